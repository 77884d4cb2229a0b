internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import PosixFiles

/// The modes of new files and directories, which the umask does not decide.
@Suite(.bounded) struct UmaskTests {
    @Test(arguments: [0o000, 0o077, 0o777])
    func makesWhatTheUserCanUseUnderAnyUmask(mask: UInt32) async throws {
        let folder = try TemporaryFolder()
        // In a process of its own, since the umask applies to the process.
        await #expect(processExitsWith: .success) { [path = folder.path as String, mask = mask as UInt32] in
            umask(mode_t(mask))
            try PrivateFiles(errorCode: .storeUnavailable).makeDirectory("\(path)/a/b", parentMode: 0o700)
            _ = try FileDescriptor(openingOrCreating: "\(path)/lock")
        }
        #expect(try TemporaryFolder.mode(of: folder.file("a")) == 0o700)
        #expect(try TemporaryFolder.mode(of: folder.file("a/b")) == 0o700)
        #expect(try TemporaryFolder.mode(of: folder.file("lock")) == 0o600)
    }
}
