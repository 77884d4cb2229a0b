internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// Providers whose values no message can hold. Whatever a provider says, every reply can be decoded, by every app and after a
/// restart, and every account can be signed out.
@Suite(.bounded) struct HostileValuesTests {
    private static let claims = [
        "preferred_username", "name", "given_name", "family_name", "upn", "email", "unique_name", "sub", "oid", "ver",
        "altsecid",
    ]
    private static let fields = [
        "scope", "token_type", "foci", "client_info", "expires_in", "ext_expires_in", "refresh_in", "refresh_token",
        "access_token", "cloud_instance_host_name", "resource", "unknown",
    ]

    @Test(arguments: [nil, "https://graph.microsoft.com"])
    func listsWhateverAProviderSaysOverARestart(resource: String?) async throws {
        var seed = TestSeed()
        let rounds = (0..<24).map { _ in
            (claims: Self.values(for: Self.claims, &seed), fields: Self.values(for: Self.fields, &seed))
        }
        try await AgentFixture.with { f in
            let parameters = try f.parameters(resource: resource)
            for (number, round) in rounds.enumerated() {
                f.emulator.control.settings.idTokenClaims = round.claims
                f.emulator.control.settings.tokenReply = round.fields
                do {
                    let result = try await f.signIn("user\(number)@contoso.com", parameters)
                    _ = try? await f.silent(parameters, result.account.reference, force: true)
                } catch let error as TokenError {
                    // An answer that this SDK cannot decode would have this code.
                    #expect(error.code != .malformedMessage && error.code != .frameTooLarge, "\(error), \(seed)")
                }
                try await Self.list(f, "round \(number), \(seed)")
            }
            f.emulator.control.settings.idTokenClaims = [:]
            f.emulator.control.settings.tokenReply = [:]
            try await f.signIn("alice@contoso.com", parameters)
            let names = try await Self.list(f, "\(seed)")
            try await f.restarted { f in
                #expect(try await Self.list(f, "after a restart, \(seed)") == names)
                for account in try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)) {
                    _ = try await f.agent.removeAccount(
                        RemoveAccount(
                            clientID: parameters.clientID, account: account.reference, extent: .account,
                            environment: account.environment))
                }
                #expect(
                    try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)).isEmpty, "\(seed)")
            }
        }
    }

    /// Errors are replies too.
    @Test func returnsWhateverErrorAProviderSends() async throws {
        var seed = TestSeed()
        let values = (0..<24).map { _ in
            Self.values(for: ["error", "suberror", "error_description", "error_codes"], &seed)
        }
        try await AgentFixture.with { f in
            let parameters = try f.parameters()
            let reference = try await f.signIn("alice@contoso.com", parameters).account.reference
            for fields in values {
                f.emulator.control.settings.tokenReply = fields.merging(["access_token": nil, "id_token": nil]) { $1 }
                f.clock.advance(by: 4000)
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, reference, force: true)
                }
                #expect(error?.code != .malformedMessage && error?.code != .frameTooLarge, "\(fields), \(seed)")
            }
        }
    }

    /// The names of all accounts, which every list has: of all apps, of one, and of credentials.
    @discardableResult
    private static func list(_ f: AgentFixture, _ comment: String) async throws -> [String] {
        do {
            let accounts = try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false))
            _ = try await f.agent.listAccounts(ListAccounts(clientID: ClientID("app-1")))
            _ = try await f.agent.listCredentials(ListCredentials())
            return accounts.map { $0.username ?? "" }.sorted()
        } catch {
            Issue.record("\(error), \(comment)")
            throw error
        }
    }

    /// Some of the values are hostile, most are the emulator's own.
    private static func values(for names: [String], _ seed: inout TestSeed) -> [String: JSON] {
        var values: [String: JSON] = [:]
        for name in names where Int.random(in: 0..<4, using: &seed) == 0 {
            values[name] = name == "client_info" ? clientInfo(&seed) : value(&seed)
        }
        return values
    }

    private static func value(_ seed: inout TestSeed) -> JSON {
        switch Int.random(in: 0..<5, using: &seed) {
        case 0: [7, nil, ["a": "b"], [], 9_223_372_036_854_775_807, true, -1].randomElement(using: &seed) ?? nil
        default: .string(text(&seed))
        }
    }

    private static func clientInfo(_ seed: inout TestSeed) -> JSON {
        let object = try? JSONEncoder().encode(["uid": text(&seed), "utid": text(&seed)])
        return .string(Base64URL.encode(object ?? Data()))
    }

    private static func text(_ seed: inout TestSeed) -> String {
        let texts = [
            "", " ", "\0", "alice\0@contoso.com", "a\nb", "\u{1B}[2J", "\u{202E}evil", "-", "a-b-c", "@x", "~", "a.b.c",
            String(repeating: "x", count: 1025), String(repeating: "x", count: 5000),
            String(repeating: "😀", count: 20_000),
            String(repeating: "\u{301}", count: 29), String(repeating: "İ", count: 600),
            String(repeating: "s ", count: 40_000),
            "com.microsoft.adalcache", "login.microsoftonline.com",
        ]
        return texts.randomElement(using: &seed) ?? ""
    }
}
