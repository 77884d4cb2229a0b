internal import Foundation
internal import PosixFiles
internal import TestSupport
internal import Testing

@Suite(.bounded) struct TrustedPathTests {
    @Test func acceptsDirectoriesOfTheUserAndOfRoot() throws {
        let folder = try TemporaryFolder()
        #expect(TrustedPath.defect(ofDirectoriesAbove: folder.file("a/b/c")) == nil)
        #expect(TrustedPath.defect(ofDirectoriesAbove: "/etc/passwd") == nil)
        #expect(TrustedPath.defect(ofDirectoriesAbove: "/") == nil)
    }

    @Test func doesNotCheckWhatThePathLeadsTo() throws {
        let folder = try TemporaryFolder()
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(TrustedPath.defect(ofDirectoriesAbove: folder.path) == nil)
        #expect(TrustedPath.defect(ofDirectoriesAbove: folder.path + "/") == nil)
        #expect(
            TrustedPath.defect(ofDirectoriesAbove: folder.file("x"))?.contains("chmod go-w '\(folder.path)'") == true)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a link away"))
    func refusesASymbolicLinkOfAnotherUser() throws {
        let folder = try TemporaryFolder()
        let target = folder.file("target")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        #expect(TrustedPath.defect(ofDirectoriesAbove: link + "/x") == nil)
        #expect(lchown(link, 65534, 65534) == 0)
        for path in [link, link + "/x"] {
            #expect(TrustedPath.defect(ofDirectoriesAbove: path)?.contains("belongs to user 65534") == true)
        }
    }

    @Test func checksTheFolderThatASymbolicLinkLeadsTo() throws {
        let folder = try TemporaryFolder()
        let open = folder.file("open")
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        #expect(chmod(open, 0o777) == 0)
        #expect(FileManager.default.createFile(atPath: open + "/file", contents: nil))
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: open + "/file")
        #expect(TrustedPath.defect(ofDirectoriesAbove: link)?.contains("chmod go-w '\(open)'") == true)
    }
}
