internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import Testing

/// How the sign-in page is opened.
@Suite(.timeLimit(.minutes(1))) struct BrowserTests {
    @Test func theBrowserGetsNoneOfTheAppsFiles() async throws {
        let folder = try TemporaryFolder()
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        // Past the numbers that a shell uses itself.
        let inherited = fcntl(ends[1], F_DUPFD, 300)
        defer { for end in ends + [inherited] { close(end) } }
        let script = folder.file("browser")
        try Data("#!/bin/sh\n[ -e /proc/$$/fd/\(inherited) ] && exit 8\nexit 7\n".utf8)
            .write(to: URL(fileURLWithPath: script))
        try #require(chmod(script, 0o700) == 0)
        let report = try await withCheckedThrowingContinuation { continuation in
            do {
                try Browser(commands: [script]).open("https://x") { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(report.contains("status 7"))
    }
}
