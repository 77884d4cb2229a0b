internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct FaultTests {
    static let errors: [(error: String, suberror: String?)] = [
        ("invalid_grant", "bad_token"), ("invalid_grant", "token_expired"), ("invalid_grant", "client_mismatch"),
        ("invalid_grant", "protection_policy_required"), ("invalid_grant", "user_account_deleted"),
        ("invalid_grant", nil), ("interaction_required", "basic_action"), ("invalid_client", nil),
        ("unauthorized_client", "protection_policy_required"), ("invalid_scope", nil), ("server_error", nil),
        ("temporarily_unavailable", nil), ("invalid_request", nil), ("made_up_by_a_test", "so_is_this"),
    ]

    @Test(arguments: errors)
    func injectsAnyErrorOnce(row: (error: String, suberror: String?)) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let token = try await app.signIn().text("refresh_token")
            emulator.control.inject(.error(row.error, suberror: row.suberror))
            let reply = try await app.redeem(refreshToken: token)
            #expect(reply.status == 400)
            #expect(reply["error"] == .string(row.error))
            #expect(reply["suberror"] == row.suberror.map(JSON.string))
            #expect(try await app.redeem(refreshToken: token).status == 200)
        }
    }

    @Test func carriesAClaimsRequestAndErrorCodes() async throws {
        try await withEmulator { emulator in
            emulator.control.inject(
                Fault {
                    $0.error = "interaction_required"
                    $0.claims = #"{"access_token":{"polids":{"essential":true}}}"#
                    $0.errorCodes = [53003]
                })
            let reply = try await App(emulator: emulator).token(["grant_type": "refresh_token"])
            #expect(reply["claims"] == #"{"access_token":{"polids":{"essential":true}}}"#)
            #expect(reply["error_codes"] == [53003])
            #expect(reply.text("error_description")?.hasPrefix("AADSTS53003: ") == true)
        }
    }

    @Test(arguments: ["Strong authentication is required.", "AADSTS50076: Strong authentication is required."])
    func numbersADescriptionOnce(text: String) async throws {
        try await withEmulator { emulator in
            let fault = #"{"error":"interaction_required","error_codes":[50076],"error_description":"\#(text)"}"#
            #expect(try await HTTP.post("\(emulator.url)/control/faults", fault).status == 204)
            let reply = try await App(emulator: emulator).token(["grant_type": "refresh_token"])
            let shown = reply.text("error_description") ?? ""
            #expect(shown.hasPrefix("AADSTS50076: Strong authentication is required. Trace ID: "), "\(shown)")
        }
    }

    @Test func showsTheErrorIfThereIsNoRedirectURI() async throws {
        try await withEmulator { emulator in
            emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.error = "access_denied"
                })
            let reply = try await App(emulator: emulator).authorize(["redirect_uri": ""])
            #expect(reply.status == 400)
            #expect(reply["error"] == "access_denied")
        }
    }

    @Test func sendsFurtherMembersUnchanged() async throws {
        try await withEmulator { emulator in
            var fault = Fault.error("interaction_required")
            fault.members = ["suberror": .null, "made_up": 1]
            emulator.control.inject(fault)
            let reply = try await App(emulator: emulator).token(["grant_type": "refresh_token"])
            #expect(reply["suberror"] == .null)
            #expect(reply["made_up"] == 1)
        }
    }

    @Test(arguments: [(429, 5 as Int?, "5" as String?), (503, nil, nil), (500, nil, nil), (504, 1, "1")])
    func answersWithABareStatus(status: Int, retryAfter: Int?, header: String?) async throws {
        try await withEmulator { emulator in
            emulator.control.inject(.status(status, retryAfter: retryAfter))
            let reply = try await App(emulator: emulator).token(["grant_type": "refresh_token"])
            #expect(reply.status == status)
            #expect(reply.headers["retry-after"] == header)
            #expect(reply.fields.isEmpty)
        }
    }

    /// A client takes content after such a status for the beginning of the next response.
    @Test(arguments: [204, 304])
    func sendsNoContentWithAStatusThatHasNone(status: Int) async throws {
        try await withEmulator { emulator in
            var fault = Fault.status(status)
            fault.endpoint = .keys
            emulator.control.inject(fault)
            let script = """
                from socket import create_connection
                from sys import argv
                peer = create_connection(argv[1].split(":"))
                request = b"GET /common/discovery/keys HTTP/1.1\\r\\nHost: x\\r\\n"
                peer.sendall(request + b"\\r\\n" + request + b"Connection: close\\r\\n\\r\\n")
                replies = peer.makefile("rb").read()
                print(replies[9:12].decode(), replies.split(b"\\r\\n\\r\\n")[1][:12].decode())
                """
            let host = emulator.url.replacing("http://", with: "")
            let ended = try await TestProcess("/usr/bin/env", ["python3", "-c", script, host]).finish()
            #expect(ended.output == "\(status) HTTP/1.1 200\n", "\(ended.errors)")
        }
    }

    @Test func dropsTheConnection() async throws {
        try await withEmulator { emulator in
            emulator.control.inject(Fault { $0.drop = true })
            let app = App(emulator: emulator)
            await #expect(throws: (any Error).self) { try await app.authorize() }
            let next = try await app.authorize()
            #expect(next.status == 302)
        }
    }

    @Test func answersGarbage() async throws {
        try await withEmulator { emulator in
            emulator.control.inject(Fault { $0.garbage = true })
            let reply = try await App(emulator: emulator).signIn()
            #expect(reply.status == 400)
            emulator.control.inject(
                Fault {
                    $0.garbage = true; $0.endpoint = .token
                })
            let garbage = try await App(emulator: emulator).signIn()
            #expect(garbage.status == 200)
            #expect(garbage.fields.isEmpty)
            #expect(!garbage.body.isEmpty)
        }
    }

    @Test func dropsTheReplyAfterRotatingTheToken() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let token = try await app.signIn().text("refresh_token")
            emulator.control.inject(
                Fault {
                    $0.grant = .refreshToken; $0.drop = true; $0.afterEffect = true
                })
            await #expect(throws: (any Error).self) { try await app.redeem(refreshToken: token) }
            #expect(try await app.redeem(refreshToken: token)["suberror"] == "bad_token")
        }
    }

    @Test func holdsARequestUntilItIsReleased() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let token = try await app.signIn().text("refresh_token")
            emulator.control.inject(.hold(grant: .refreshToken))
            async let held = app.redeem(refreshToken: token)
            await emulator.control.waitForHeld(atLeast: 1)
            #expect(emulator.control.counts.inFlight[Counter.refreshToken.rawValue] == 1)
            // A held request has no effect yet, and holds no other request.
            let other = try await app.redeem(refreshToken: token)
            #expect(other.status == 200)
            #expect(emulator.control.release() == 1)
            #expect(try await held["error"] == "invalid_grant")
            #expect(emulator.control.counts.held == 0)
        }
    }

    @Test func failsAHeldRequestWhenTheFaultSaysSo() async throws {
        try await withEmulator { emulator in
            emulator.control.inject(
                Fault {
                    $0.hold = true; $0.error = "server_error"
                })
            async let held = App(emulator: emulator).token(["grant_type": "refresh_token"])
            await emulator.control.waitForHeld(atLeast: 1)
            emulator.control.release()
            let reply = try await held
            #expect(reply["error"] == "server_error")
        }
    }

    /// Nothing would release it: what held it is gone.
    @Test func releasesAHeldRequestWithAReset() async throws {
        try await withEmulator { emulator in
            emulator.control.inject(Fault { $0.hold = true })
            async let held = App(emulator: emulator).authorize()
            await emulator.control.waitForHeld(atLeast: 1)
            emulator.control.reset()
            #expect(emulator.control.release() == 0)
            let reply = try await held
            #expect(reply.status == 302)
        }
    }

    @Test func stopsWhileARequestIsHeld() async throws {
        let emulator = try await Emulator.start()
        emulator.control.inject(Fault { $0.hold = true })
        async let held = App(emulator: emulator).authorize()
        await emulator.control.waitForHeld(atLeast: 1)
        await emulator.stop()
        #expect(try await held.status == 302)
    }

    @Test func deniesAtTheRedirectURI() async throws {
        try await withEmulator { emulator in
            emulator.control.inject(
                Fault {
                    $0.endpoint = .authorize; $0.error = "access_denied"; $0.suberror = "cancel"
                })
            let reply = try await App(emulator: emulator).authorize()
            #expect(reply.status == 302)
            #expect(reply.redirect["error"] == "access_denied")
            #expect(reply.redirect["error_subcode"] == "cancel")
            #expect(reply.redirect["state"] == "s 1")
        }
    }

    @Test(arguments: [
        Fault { $0.endpoint = .authorize },
        Fault { $0.grant = .authorizationCode },
        Fault { $0.clientID = "somebody-else" },
        Fault { $0.path = "/contoso.example/" },
    ])
    func appliesToMatchingRequestsOnly(filter: Fault) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let token = try await app.signIn().text("refresh_token")
            var fault = filter
            fault.status = 503
            emulator.control.inject(fault)
            #expect(try await app.redeem(refreshToken: token).status == 200)
        }
    }

    @Test(arguments: [(1, [503, 302, 302]), (2, [503, 503, 302]), (0, [503, 503, 503])])
    func appliesAsOftenAsItsCount(count: Int, statuses: [Int]) async throws {
        try await withEmulator { emulator in
            emulator.control.inject(
                Fault {
                    $0.status = 503; $0.count = count
                })
            let app = App(emulator: emulator)
            var seen: [Int] = []
            for _ in statuses { seen.append(try await app.authorize().status) }
            #expect(seen == statuses)
            emulator.control.clearFaults()
            #expect(try await app.authorize().status == 302)
        }
    }
}
