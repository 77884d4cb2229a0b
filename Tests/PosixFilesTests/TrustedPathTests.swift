internal import Foundation
internal import PosixFiles
internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct TrustedPathTests {
    @Test func acceptsDirectoriesOfTheUserAndOfRoot() throws {
        let folder = try TemporaryFolder()
        #expect(TrustedPath.defect(ofDirectoriesAbove: folder.file("a/b/c")) == nil)
        #expect(TrustedPath.defect(ofDirectoriesAbove: "/etc/passwd") == nil)
        #expect(TrustedPath.defect(ofDirectoriesAbove: "/") == nil)
    }

    #if os(macOS)
        /// Administrators may change the folder, as those of Homebrew.
        @Test func acceptsAFolderOfTheAdministrators() {
            #expect(TrustedPath.defect(ofDirectoriesAbove: "/Applications/sso-agent") == nil)
        }
    #endif

    @Test func doesNotCheckWhatThePathLeadsTo() throws {
        let folder = try TemporaryFolder()
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(TrustedPath.defect(ofDirectoriesAbove: folder.path) == nil)
        #expect(TrustedPath.defect(ofDirectoriesAbove: folder.path + "/") == nil)
        #expect(
            TrustedPath.defect(ofDirectoriesAbove: folder.file("x"))?.remedy?.command == "chmod go-w \(folder.path)")
    }

    /// A mark at the beginning of a name forms a character with the slash before it.
    @Test func checksTheFolderOfANameThatBeginsWithAMark() throws {
        let folder = try TemporaryFolder()
        let open = folder.file("open")
        let inner = "\(open)/\u{301}inner"
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        #expect(mkdir(inner, 0o700) == 0)
        #expect(chmod(open, 0o777) == 0)
        #expect(TrustedPath.defect(ofDirectoriesAbove: "\(inner)/file")?.remedy?.command == "chmod go-w \(open)")
    }

    @Test func quotesAFolderInTheRemedy() throws {
        let folder = try TemporaryFolder()
        let open = folder.file("x'; touch pwned; '")
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        #expect(chmod(open, 0o777) == 0)
        let defect = try #require(TrustedPath.defect(ofDirectoriesAbove: "\(open)/file"))
        #expect(defect.description.hasSuffix(#"x'\''; touch pwned; '\'''"#), "\(defect)")
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
            #expect(TrustedPath.defect(ofDirectoriesAbove: path)?.description.contains("belongs to user 65534") == true)
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
        #expect(TrustedPath.defect(ofDirectoriesAbove: link)?.description.contains("chmod go-w \(open)") == true)
    }

    /// Who may replace the second link decides where the first one leads.
    @Test(arguments: ["file", "missing", "../target/file"])
    func checksTheFolderOfALinkThatALinkLeadsTo(name: String) throws {
        let folder = try TemporaryFolder()
        let (open, target, link) = (folder.file("open"), folder.file("target"), folder.file("link"))
        for path in [open, target] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        #expect(FileManager.default.createFile(atPath: target + "/file", contents: nil))
        try FileManager.default.createSymbolicLink(atPath: open + "/hop", withDestinationPath: "../target")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "open/hop")
        #expect(TrustedPath.defect(ofDirectoriesAbove: "\(link)/\(name)") == nil)
        #expect(chmod(open, 0o777) == 0)
        let defect = TrustedPath.defect(ofDirectoriesAbove: "\(link)/\(name)")
        #expect(defect?.description.contains("chmod go-w \(open)") == true)
    }

    /// Another user may change a link in a folder of his own at any time, also between the check and the use.
    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func refusesALinkInAFolderOfAnotherUserThatALinkLeadsTo() throws {
        let folder = try TemporaryFolder()
        let (target, theirs, link) = (folder.file("target"), folder.file("theirs"), folder.file("link"))
        #expect(FileManager.default.createFile(atPath: target, contents: nil, attributes: [.posixPermissions: 0o600]))
        try FileManager.default.createDirectory(atPath: theirs, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: theirs + "/hop", withDestinationPath: target)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: theirs + "/hop")
        #expect(throws: Never.self) { _ = try FileDescriptor.trusted(link) }
        #expect(chown(theirs, 65534, 65534) == 0)
        #expect(throws: TrustedFileError.self) { _ = try FileDescriptor.trusted(link) }
    }

    /// The kernel opens nothing behind so many links.
    @Test func endsAtALinkThatLeadsToItself() throws {
        let folder = try TemporaryFolder()
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "link/link")
        #expect(TrustedPath.defect(ofDirectoriesAbove: "\(link)/file") == nil)
    }

    /// As before the first start, which makes the folder of the store.
    @Test func checksTheFolderInWhichALinkHasWhatDoesNotExistYet() throws {
        let folder = try TemporaryFolder()
        let (open, link) = (folder.file("open"), folder.file("link"))
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        #expect(chmod(open, 0o777) == 0)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: open)
        let defect = TrustedPath.defect(ofDirectoriesAbove: link + "/missing")
        #expect(defect?.description.contains("chmod go-w \(open)") == true)
    }

    #if os(Linux)
        /// The mode of root's folder says that root's group may write, and the list who that is.
        @Test(
            .enabled(if: geteuid() == 0, "only root has folders of root's group"),
            arguments: [
                ([Entry.owner, .user(1600, 7), .owningGroup(5), .mask(7), .others(5)], "user 1600"),
                ([.owner, .owningGroup(5), .group(1600, 6), .mask(7), .others(5)], "group 1600"),
                ([.owner, .user(0, 7), .user(1600, 2), .owningGroup(7), .mask(6), .others(0)], "user 1600"),
            ])
        func refusesAFolderThatAnAccessControlListLetsAnotherUserChange(list: [Entry], writer: String) throws {
            let folder = try TemporaryFolder()
            let parent = folder.file("parent")
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
            guard try Self.set(Entry.attribute(list), on: parent) else { return }
            let statement = "an access control list lets \(writer) replace what is in \(parent)"
            #expect(
                TrustedPath.defect(ofDirectoriesAbove: parent + "/store")
                    == Problem(statement, .run("setfacl -b \(parent)")))
            // Nobody can replace the entries of others in a sticky folder.
            #expect(chmod(parent, 0o1775) == 0)
            #expect(TrustedPath.defect(ofDirectoriesAbove: parent + "/store") == nil)
        }

        @Test(
            .enabled(if: geteuid() == 0, "only root has folders of root's group"),
            arguments: [
                [Entry.owner, .user(1600, 5), .owningGroup(5), .mask(5), .others(5)],
                [.owner, .user(1600, 7), .owningGroup(5), .mask(5), .others(5)],
                [.owner, .user(0, 7), .owningGroup(5), .group(0, 7), .mask(7), .others(5)],
                [.owner, .owningGroup(7), .others(5)],
            ])
        func acceptsAFolderWhoseAccessControlListLetsNobodyElseWrite(list: [Entry]) throws {
            let folder = try TemporaryFolder()
            let parent = folder.file("parent")
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
            guard try Self.set(Entry.attribute(list), on: parent) else { return }
            #expect(TrustedPath.defect(ofDirectoriesAbove: parent + "/store") == nil)
        }

        /// The mask, with which the list may give permission to write, is in the mode.
        @Test func refusesAFileThatAnAccessControlListLetsAnotherUserChange() throws {
            let folder = try TemporaryFolder()
            let file = folder.file("config.toml")
            #expect(FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o600]))
            guard
                try Self.set(
                    Entry.attribute([.owner, .user(1600, 6), .owningGroup(0), .mask(6), .others(0)]), on: file)
            else { return }
            #expect(throws: TrustedFileError.self) { _ = try FileDescriptor.trusted(file) }
        }
    #endif

    @Test func readsAnyBytesAsAnAccessControlListOrNone() {
        #expect(AccessList(attribute: []) == nil)
        #expect(AccessList(attribute: [1, 0, 0, 0]) == nil)
        #expect(AccessList(attribute: [2, 0, 0, 0])?.writers == [])
        #expect(AccessList(attribute: [2, 0, 0, 0, 2, 0, 7, 0, 64, 6, 0]) == nil)
        #expect(AccessList(attribute: [2, 0, 0, 0, 2, 0, 7, 0, 64, 6, 0, 0])?.writers == [.user(1600)])
        #expect(AccessList(attribute: [2, 0, 0, 0, 3, 0, 7, 0, 64, 6, 0, 0]) == nil)
        #expect(AccessList(attribute: [UInt8](repeating: 0, count: 1 << 20)) == nil)
        var random = TestSeed()
        for _ in 0..<20_000 {
            var bytes = (0..<Int(random.next() % 64)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if random.next().isMultiple(of: 2) { bytes = [2, 0, 0, 0] + bytes.map { $0 & 0x3F } }
            let list = AccessList(attribute: bytes)
            #expect(list.map { $0.writers.count <= bytes.count / 8 } ?? true, "\(random)")
        }
    }

    #if os(Linux)
        /// An entry of a list: a tag, permissions, and the ID of a user or group.
        struct Entry: Sendable {
            var tag: UInt16
            var permissions: UInt16
            var identifier = UInt32.max

            static let owner = Entry(tag: 0x01, permissions: 7)
            static func user(_ user: UInt32, _ permissions: UInt16) -> Entry {
                Entry(tag: 0x02, permissions: permissions, identifier: user)
            }
            static func owningGroup(_ permissions: UInt16) -> Entry { Entry(tag: 0x04, permissions: permissions) }
            static func group(_ group: UInt32, _ permissions: UInt16) -> Entry {
                Entry(tag: 0x08, permissions: permissions, identifier: group)
            }
            static func mask(_ permissions: UInt16) -> Entry { Entry(tag: 0x10, permissions: permissions) }
            static func others(_ permissions: UInt16) -> Entry { Entry(tag: 0x20, permissions: permissions) }

            static func attribute(_ entries: [Entry]) -> [UInt8] {
                [2, 0, 0, 0]
                    + entries.flatMap { entry in
                        withUnsafeBytes(of: entry.tag.littleEndian, Array.init)
                            + withUnsafeBytes(of: entry.permissions.littleEndian, Array.init)
                            + withUnsafeBytes(of: entry.identifier.littleEndian, Array.init)
                    }
            }
        }

        /// Sets the list of a file; false if the file system has none.
        private static func set(_ attribute: [UInt8], on path: String) throws -> Bool {
            typealias Call =
                @convention(c) (
                    UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32
                ) -> Int32
            // <sys/xattr.h> is in no module.
            let call = unsafeBitCast(try #require(dlsym(nil, "setxattr")), to: Call.self)
            if call(path, "system.posix_acl_access", attribute, attribute.count, 0) == 0 { return true }
            try #require(errno == EOPNOTSUPP, "\(String(cString: strerror(errno)))")
            return false
        }
    #endif
}
