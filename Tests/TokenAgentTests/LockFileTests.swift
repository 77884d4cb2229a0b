internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

@Suite(.bounded) struct LockFileTests {
    @Test func namesTheProcessThatHasTheLock() throws {
        let folder = try TemporaryFolder()
        let holder = LockHolder(try LockFile(beside: folder.file("sock")))
        let error = failure(folder.file("sock"))
        #expect(error?.code == .agentUnavailable)
        #expect(error?.message.contains("another sso-agent (process \(getpid()))") == true)
        holder.release()
        #expect(failure(folder.file("sock")) == nil)
    }

    @Test func namesTheReasonIfTheFileCannotBeOpened() throws {
        let folder = try TemporaryFolder()
        let (folderInPlace, link) = (folder.file("a"), folder.file("b"))
        try FileManager.default.createDirectory(atPath: folderInPlace + ".lock", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: link + ".lock", withDestinationPath: folder.file("elsewhere"))
        for path in [folderInPlace, link] {
            let error = failure(path)
            #expect(error?.code == .agentUnavailable)
            #expect(error?.message.hasPrefix("cannot open \(path).lock: ") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("elsewhere")))
    }

    /// The error for a lock file that cannot be locked; one that can is released again.
    private func failure(_ socketPath: String) -> TokenError? {
        do throws(TokenError) {
            _ = try LockFile(beside: socketPath)
            return nil
        } catch {
            return error
        }
    }
}
