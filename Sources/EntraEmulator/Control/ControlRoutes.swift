internal import Foundation
internal import NIOHTTP1

/// The `/control/…` routes, which give tests in other processes and languages what ``EmulatorControl`` gives in process.
struct ControlRoutes: Sendable {
    let emulator: EmulatorControl

    /// A control request that is refused, without any effect.
    private struct Refusal: Error {
        let status: HTTPResponseStatus
        let message: String
    }

    /// Performs a request; a refusal is returned as a response too.
    func respond(to request: ReceivedRequest) async throws -> Response {
        do {
            return try await route(request)
        } catch let refusal as Refusal {
            return try .json(["error": ["message": .string(refusal.message)]] as JSON, status: refusal.status)
        }
    }

    private func route(_ request: ReceivedRequest) async throws -> Response {
        let query = Parameters(encoded: request.query)
        let body = request.body
        switch (request.method, request.path) {
        case (.GET, "/control/counts"): return try .json(emulator.counts)
        case (.DELETE, "/control/counts"): emulator.resetCounts()
        case (.POST, "/control/faults"): try addFaults(body)
        case (.DELETE, "/control/faults"): emulator.clearFaults()
        case (.GET, "/control/settings"): return try .json(emulator.settings)
        case (.POST, "/control/settings"): return try .json(try changeSettings(body))
        case (.GET, "/control/users"): return try .json(JSON.array(emulator.users.map(Self.json)))
        case (.POST, "/control/users"): return try .json(try addUser(body))
        case (.POST, "/control/revoke"): return try .json(try revoke(body))
        case (.POST, "/control/release"): return try .json(["released": .number(emulator.release())] as JSON)
        case (.POST, "/control/approve"): return try .json(try decide(body, isApproved: true))
        case (.POST, "/control/decline"): return try .json(try decide(body, isApproved: false))
        case (.GET, "/control/wait"): return try .json(try await wait(query))
        case (.POST, "/control/reset"): emulator.reset()
        default: throw Refusal(status: .notFound, message: "there is no such control route")
        }
        return Response(status: .noContent)
    }

    private func addFaults(_ body: Data) throws {
        let isList = body.first == UInt8(ascii: "[")
        let faults = isList ? try decode([Fault].self, body) : [try decode(Fault.self, body)]
        let sent = isList ? try decode([[String: JSON]].self, body) : [try fields(body)]
        try refuseUnknown(sent.flatMap(\.keys), Fault.hasMember)
        for fault in faults { emulator.inject(fault) }
    }

    /// Changes the settings that the body names; the others keep their values.
    private func changeSettings(_ body: Data) throws -> EmulatorSettings {
        let current = try JSONDecoder().decode([String: JSON].self, from: JSONEncoder().encode(emulator.settings))
        let changes = try decode([String: JSON].self, body)
        try refuseUnknown(changes.keys, EmulatorSettings.hasMember)
        if case .object(let adfs) = changes["adfs"] { try refuseUnknown(adfs.keys, EmulatedADFS.hasMember) }
        if case .array(let clouds) = changes["clouds"] {
            for case .object(let cloud) in clouds { try refuseUnknown(cloud.keys, EmulatedCloud.hasMember) }
        }
        let merged = current.merging(changes) { _, new in new }
        let settings = try decode(EmulatorSettings.self, try JSONEncoder().encode(merged))
        if let defect = settings.defect { throw Refusal(status: .badRequest, message: defect) }
        emulator.settings = settings
        return settings
    }

    /// Refuses a body with an unknown member. Without a filter whose name is misspelt, a fault would match every request.
    private func refuseUnknown(_ names: some Sequence<String>, _ isKnown: (String) -> Bool) throws {
        guard let name = names.sorted().first(where: { !isKnown($0) }) else { return }
        throw Refusal(status: .badRequest, message: "there is no member \(name)")
    }

    private func addUser(_ body: Data) throws -> JSON {
        let members = try knownMembers(["username", "disabled"], body)
        guard let username = try text("username", members), !username.allSatisfy(\.isWhitespace) else {
            throw Refusal(status: .badRequest, message: "no username")
        }
        switch members["disabled"] ?? JSON.null {
        case .null: break
        case .bool(let isDisabled): emulator.setDisabled(isDisabled, username: username)
        default: throw Refusal(status: .badRequest, message: "disabled is true or false")
        }
        return Self.json(emulator.addUser(username))
    }

    private func revoke(_ body: Data) throws -> JSON {
        let members = try knownMembers(["username", "refresh_tokens"], body)
        let name = try text("refresh_tokens", members) ?? RefreshTokenRevocation.revoked.rawValue
        guard let refreshTokens = RefreshTokenRevocation(rawValue: name) else {
            throw Refusal(status: .badRequest, message: "refresh_tokens is revoked, valid or interaction_required")
        }
        let username = try text("username", members)
        return ["revoked": .number(emulator.revokeTokens(of: username, refreshTokens: refreshTokens))]
    }

    private func decide(_ body: Data, isApproved: Bool) throws -> JSON {
        let members = try knownMembers(isApproved ? ["user_code", "username"] : ["user_code"], body)
        let userCode = try text("user_code", members)
        let count =
            isApproved
            ? emulator.approveDeviceCode(userCode, username: try text("username", members))
            : emulator.declineDeviceCode(userCode)
        return [isApproved ? "approved" : "declined": .number(count)]
    }

    /// Waits until the given number of requests has arrived or is held. There is no time-out: the caller sets its own.
    private func wait(_ query: Parameters) async throws -> Counts {
        if let held = query["held"].flatMap({ Int($0) }) {
            await emulator.waitForHeld(atLeast: held)
        } else if let counter = query["counter"].flatMap({ Counter(rawValue: $0) }) {
            guard let count = Int(query["at_least"] ?? "1") else {
                throw Refusal(status: .badRequest, message: "at_least is a number")
            }
            await emulator.waitForCount(counter, atLeast: count)
        } else {
            throw Refusal(status: .badRequest, message: "give held=N, or counter=NAME and at_least=N")
        }
        return emulator.counts
    }

    /// The members of a body that has no others than these. One whose name is misspelt would stand for all users or codes.
    private func knownMembers(_ names: Set<String>, _ body: Data) throws -> [String: JSON] {
        let members = try fields(body)
        try refuseUnknown(members.keys, names.contains)
        return members
    }

    /// The text of a member; nil if it is missing or null.
    private func text(_ name: String, _ members: [String: JSON]) throws -> String? {
        switch members[name] ?? JSON.null {
        case .null: return nil
        case .string(let text): return text
        default: throw Refusal(status: .badRequest, message: "\(name) is text")
        }
    }

    private func fields(_ body: Data) throws -> [String: JSON] {
        body.isEmpty ? [:] : try decode([String: JSON].self, body)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ body: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw Refusal(status: .badRequest, message: "the body does not fit: \(error)")
        }
    }

    private static func json(_ user: User) -> JSON {
        [
            "username": .string(user.username), "home_tenant_id": .string(user.homeTenantID),
            "object_id": .string(user.objectID), "home_account_id": .string(user.homeAccountID),
            "disabled": .bool(user.isDisabled),
        ]
    }
}
