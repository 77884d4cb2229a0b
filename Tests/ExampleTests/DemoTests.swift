internal import Foundation
internal import TestSupport
internal import Testing

/// What the demo leaves when it is interrupted, or when one of its programs fails.
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

    /// It looks for the output of a program every 50 ms, with a program `sleep` that counts here; after 1,200 times it gives up.
    @Test(.enabled(if: canRun, "there is no curl or Python"))
    func endsWhenAProgramEndsAtItsStart() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("bin"), withIntermediateDirectories: true)
        _ = try await folder.makeProgram("bin/entra-emulator", "echo 'no port is free' >&2; exit 1")
        _ = try await folder.makeProgram("bin/sleep", "echo >> '\(folder.file("sleeps"))'; exec /bin/sleep \"$@\"")
        let inherited = ProcessInfo.processInfo.environment
        let demo = try TestProcess(
            PackageFolder.path("examples/demo.sh"), [folder.file("bin")],
            environment: inherited.merging([
                "TMPDIR": folder.path, "PATH": "\(folder.file("bin")):\(inherited["PATH"] ?? "/usr/bin:/bin")",
            ]) { $1 })
        let ended = try await demo.finish()
        #expect(ended.status == 1)
        #expect(ended.output.contains("the program that writes emulator.json has ended"), "\(ended.output)")
        #expect(ended.output.contains("no port is free"), "\(ended.output)")
        let sleeps = (try? Data(contentsOf: URL(filePath: folder.file("sleeps"))))?.count ?? 0
        #expect(sleeps < 1000)
    }
}
