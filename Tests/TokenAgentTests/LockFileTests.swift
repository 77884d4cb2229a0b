internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

@Suite(.bounded) struct LockFileTests {
    @Test func namesTheProcessThatHasTheLock() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("sock")
        let holder = try await LockFile(beside: path)
        let listener = try ListeningSocket.make(at: path)
        let error = await failure(path)
        #expect(error?.code == .agentUnavailable)
        #expect(error?.message.contains("another sso-agent (process \(getpid()))") == true)
        holder.release()
        #expect(await failure(path) == nil)
        close(listener)
    }

    /// An agent that is started while another one ends takes its place.
    @Test func waitsForAnAgentThatDoesNotListenAnyMore() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("sock")
        let holder = try await LockFile(beside: path)
        let second = Task { await failure(path) }
        #if os(Linux)
            // It has opened the file, and tries.
            while try Self.descriptors(of: path + ".lock") < 2 { await letOthersRun() }
        #endif
        holder.release()
        #expect(await second.value == nil)
    }

    /// The unit was switched on while an agent ran that a program had started: the service manager has replaced its socket.
    @Test func waitsForAnAgentWhoseSocketTheServiceManagerHasReplaced() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("sock")
        let holder = try await LockFile(beside: path)
        let managers = try ListeningSocket.make(at: path)
        let ended = Mailbox<Void>()
        let second = Task {
            defer { ended.put(()) }
            return await failure(path, isManagers: true)
        }
        #if os(Linux)
            // It has opened the file, and tries.
            while try ended.count == 0 && Self.descriptors(of: path + ".lock") < 2 { await letOthersRun() }
        #endif
        holder.release()
        #expect(await second.value == nil)
        close(managers)
    }

    /// A signal would end it before it has got what it waits for.
    @Test func advisesNoSignalToAnAgentThatIsStopping() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("sock")
        let holder = try await LockFile(beside: path)
        let second = Task { await failure(path) }
        second.cancel()
        let error = await second.value
        #expect(error?.message.contains("(process \(getpid())) does not listen") == true)
        #expect(error?.details.nextCommand == nil)
        holder.release()
    }

    @Test func namesTheReasonIfTheFileCannotBeOpened() async throws {
        let folder = try TemporaryFolder()
        let (folderInPlace, link) = (folder.file("a"), folder.file("b"))
        try FileManager.default.createDirectory(atPath: folderInPlace + ".lock", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: link + ".lock", withDestinationPath: folder.file("elsewhere"))
        for path in [folderInPlace, link] {
            let error = await failure(path)
            #expect(error?.code == .agentUnavailable)
            #expect(error?.message.hasPrefix("cannot open \(path).lock: ") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("elsewhere")))
    }

    #if os(Linux)
        /// How often this process has opened a file.
        private static func descriptors(of path: String) throws -> Int {
            let folder = "/proc/self/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
            }
        }
    #endif

    /// The error for a lock file that cannot be locked; one that can is released again.
    private func failure(_ socketPath: String, isManagers: Bool = false) async -> TokenError? {
        do throws(TokenError) {
            _ = try await LockFile(beside: socketPath, isManagers: isManagers)
            return nil
        } catch {
            return error
        }
    }
}
