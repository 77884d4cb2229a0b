internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// The output and the exit status of the executable.
@Suite(.bounded) struct CommandTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func printsItsURLAndStopsOnASignal(signal: Int32) async throws {
        let emulator = try TestProcess("entra-emulator", ["--user", "alice@contoso.example", "--seed", "7"])
        let line = try await emulator.waitForOutput("\n")
        let ready = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        let users = try await HTTP.get("\(ready["url"] ?? "")/control/users")
        #expect(users.body.contains(Directory(seed: 7).user(username: "alice@contoso.example").objectID))
        emulator.signal(signal)
        let ended = try await emulator.finish()
        #expect(ended.status == 0)
        #expect(ended.output == "")
    }

    @Test(arguments: [
        ["--port", "65536"], ["--tls-cert", "only.pem"], ["--tls-cert", "no", "--tls-key", "no"], ["--unknown"],
    ])
    func refusesInvalidArguments(arguments: [String]) async throws {
        let ended = try await TestProcess("entra-emulator", arguments).finish()
        #expect(ended.status != 0)
        #expect(ended.output == "")
        #expect(!ended.errors.isEmpty)
    }
}
