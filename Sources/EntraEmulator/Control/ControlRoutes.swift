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
        case (.POST, "/control/revoke"):
            return try .json(["revoked": .number(emulator.revokeTokens(of: try text("username", body)))] as JSON)
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
        let merged = current.merging(changes) { _, new in new }
        let settings = try decode(EmulatorSettings.self, try JSONEncoder().encode(merged))
        emulator.settings = settings
        return settings
    }

    /// Refuses a body with an unknown member. Without a filter whose name is misspelt, a fault would match every request.
    private func refuseUnknown(_ names: some Sequence<String>, _ isKnown: (String) -> Bool) throws {
        guard let name = names.sorted().first(where: { !isKnown($0) }) else { return }
        throw Refusal(status: .badRequest, message: "there is no member \(name)")
    }

    private func addUser(_ body: Data) throws -> JSON {
        guard let username = try text("username", body) else {
            throw Refusal(status: .badRequest, message: "no username")
        }
        if case .bool(let isDisabled) = try fields(body)["disabled"] {
            emulator.setDisabled(isDisabled, username: username)
        }
        return Self.json(emulator.addUser(username))
    }

    private func decide(_ body: Data, isApproved: Bool) throws -> JSON {
        let userCode = try text("user_code", body)
        let count =
            isApproved
            ? emulator.approveDeviceCode(userCode, username: try text("username", body))
            : emulator.declineDeviceCode(userCode)
        return [isApproved ? "approved" : "declined": .number(count)]
    }

    /// Waits until the given number of requests has arrived or is held. There is no time-out: the caller sets its own.
    private func wait(_ query: Parameters) async throws -> Counts {
        if let held = query["held"].flatMap({ Int($0) }) {
            await emulator.waitForHeld(atLeast: held)
        } else if let counter = query["counter"].flatMap({ Counter(rawValue: $0) }) {
            await emulator.waitForCount(counter, atLeast: query["at_least"].flatMap { Int($0) } ?? 1)
        } else {
            throw Refusal(status: .badRequest, message: "give held=N, or counter=NAME and at_least=N")
        }
        return emulator.counts
    }

    private func text(_ name: String, _ body: Data) throws -> String? {
        guard case .string(let text) = try fields(body)[name] else { return nil }
        return text
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
