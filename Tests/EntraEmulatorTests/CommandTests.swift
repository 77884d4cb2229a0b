internal import Foundation
internal import Subprocess
internal import SystemPackage
internal import Testing

@testable internal import EntraEmulator

/// The executable: what it prints, and how it ends.
@Suite(.timeLimit(.minutes(10))) struct CommandTests {
    @Test(arguments: [Signal.terminate, .interrupt])
    func printsItsURLAndStopsWhenTold(signal: Signal) async throws {
        let result = try await run(
            .path(FilePath(Paths.emulator.path)), arguments: ["--user", "alice@contoso.example", "--seed", "7"],
            input: .none, output: .sequence, error: .discarded
        ) { execution in
            var lines: [String] = []
            for try await line in execution.standardOutput.strings() {
                lines.append(line)
                let ready = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
                let users = try await HTTP.get("\(ready["url"] ?? "")/control/users")
                #expect(users.body.contains(Directory(seed: 7).user(username: "alice@contoso.example").objectID))
                try execution.send(signal: signal)
            }
            return lines.count
        }
        #expect(result.terminationStatus == .exited(0))
        #expect(result.closureResult == 1)
    }

    @Test(arguments: [
        ["--port", "65536"], ["--tls-cert", "only.pem"], ["--tls-cert", "no", "--tls-key", "no"], ["--unknown"],
    ])
    func refusesWhatItCannotServe(arguments: [String]) async throws {
        let result = try await run(
            .path(FilePath(Paths.emulator.path)), arguments: Arguments(arguments),
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        #expect(!result.terminationStatus.isSuccess)
        #expect(result.standardOutput == "")
        #expect(!result.standardError.isEmpty)
    }
}
