internal import CAgentSystem
internal import Foundation
internal import Testing

/// A TPM 2.0 of swtpm: a program, with the memory of its TPM in a folder of its own.
package final class EmulatedTPM: Sendable {
    package static var isInstalled: Bool { Executable.isInstalled("swtpm") }

    private let folder: TemporaryFolder
    /// Its socket.
    package var path: String { folder.file("tpm") }

    package init() async throws {
        folder = try TemporaryFolder()
        try await start()
    }

    deinit { if let processID { kill(processID, SIGKILL) } }

    /// Starts the program, which listens when this returns.
    package func start() async throws {
        let program = try #require(Executable.installed("swtpm"))
        let started = try await TestProcess(
            program,
            [
                "socket", "--tpm2", "--tpmstate", "dir=\(folder.path)", "--server", "type=unixio,path=\(path)",
                "--flags",
                "not-need-init,startup-clear", "--daemon", "--pid", "file=\(folder.file("pid"))",
            ]
        ).finish()
        guard started.status == 0 else { throw POSIXError(.EIO, userInfo: [NSLocalizedDescriptionKey: started.errors]) }
    }

    /// Kills the program; the TPM keeps its memory.
    package func stop() throws {
        let processID = try #require(processID)
        let process = agent_open_pidfd(processID)
        kill(processID, SIGKILL)
        var ended = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
        while poll(&ended, 1, -1) < 0, errno == EINTR {}
        close(process)
        // Another process may have its ID from now on.
        try FileManager.default.removeItem(atPath: folder.file("pid"))
        try FileManager.default.removeItem(atPath: path)
    }

    private var processID: Int32? {
        (try? String(contentsOfFile: folder.file("pid"), encoding: .utf8)).flatMap {
            Int32($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
