internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import PosixFiles

/// The command that helps if a file cannot be written.
@Suite(.bounded) struct FileAdviceTests {
    private func command(_ number: Int32, at path: String) -> String? {
        let error = PrivateFiles(errorCode: .storeUnavailable)
            .failure("cannot write \(path)", SystemError(number: number), at: path)
        return error.details.nextCommand
    }

    /// The user's part of a disk can be full while the disk is not.
    @Test(arguments: [ENOSPC, EDQUOT]) func showsTheRoomOnAFullDisk(number: Int32) throws {
        let folder = try TemporaryFolder()
        #expect(command(number, at: folder.file("store")) == "df -h \(folder.path)")
    }

    @Test func makesTheFolderThatIsMissing() throws {
        let folder = try TemporaryFolder()
        #expect(command(ENOENT, at: folder.file("a/store")) == "mkdir -p \(folder.file("a"))")
        #expect(command(ENOENT, at: folder.file("store")) == nil)
    }

    /// A command that has to be quoted is quoted.
    @Test func namesAFolderWithABlank() throws {
        let folder = try TemporaryFolder()
        #expect(command(ENOSPC, at: folder.file("my store/file")) == "df -h '\(folder.file("my store"))'")
    }

    /// Where the user may write already, something else forbids it, such as a sandbox.
    @Test func makesTheFolderWritableThatIsNot() throws {
        let folder = try TemporaryFolder()
        #expect(command(EACCES, at: folder.file("store")) == nil)
        #expect(chmod(folder.path, 0o500) == 0)
        #expect(command(EACCES, at: folder.file("store")) == "chmod u+w \(folder.path)")
        #expect(chmod(folder.path, 0o700) == 0)
    }
}
