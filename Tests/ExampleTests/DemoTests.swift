internal import Foundation
internal import TestSupport
internal import Testing

/// What the demo leaves when it is interrupted.
@Suite(.bounded) struct DemoTests {
    private static var canRun: Bool { ["curl", "python3"].allSatisfy(Executable.isInstalled) }

    /// A terminal that is closed sends SIGHUP, with which the agent reads its configuration again.
    @Test(.enabled(if: canRun, "there is no curl or Python"), arguments: [SIGHUP, SIGTERM])
    func stopsItsAgentAndRemovesItsFolder(signal: Int32) async throws {
        let folder = try TemporaryFolder()
        let environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
        let demo = try TestProcess(
            PackageFolder.path("examples/demo.sh"), [Executable.folder.path], environment: environment)
        try await demo.waitForOutput("ssoctl status")
        demo.signal(signal)
        // The output ends with the last process that has it.
        #expect(try await demo.finish().status == 130)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
