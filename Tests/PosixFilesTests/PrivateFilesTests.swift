internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import PosixFiles

@Suite(.bounded) struct PrivateFilesTests {
    private let files = PrivateFiles(errorCode: .storeUnavailable)

    @Test(arguments: ["a/b/c", "a/b/c/", "a/b/c//", "a//b/./c"])
    func makesADirectoryAndTheMissingOnesAboveIt(name: String) throws {
        let folder = try TemporaryFolder()
        try files.makeDirectory(folder.file(name), parentMode: 0o750)
        #expect(try TemporaryFolder.mode(of: folder.file("a/b/c")) == 0o700)
        #expect(try TemporaryFolder.mode(of: folder.file("a/b")) & 0o700 == 0o700)
        // An existing directory keeps its mode.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.file("a/b/c"))
        try files.makeDirectory(folder.file(name), parentMode: 0o750)
        #expect(try TemporaryFolder.mode(of: folder.file("a/b/c")) == 0o755)
    }

    @Test func leavesADirectoryAloneThatALinkLeadsTo() throws {
        let folder = try TemporaryFolder()
        try files.makeDirectory(folder.file("target"), parentMode: 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.file("target"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link"), withDestinationPath: folder.file("target"))
        try files.makeDirectory(folder.file("link/"), parentMode: 0o700)
        #expect(try TemporaryFolder.mode(of: folder.file("target")) == 0o755)
        // A link to nothing is not followed.
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("lost"), withDestinationPath: folder.file("nothing"))
        #expect(throws: TokenError.self) { try files.makeDirectory(folder.file("lost/below"), parentMode: 0o700) }
        #expect(!files.exists(folder.file("nothing")))
    }

    @Test func namesThePathAndTheReasonWithTheCodeOfTheCaller() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("file")
        try files.makeEmpty(file)
        let error = try #require(throws: TokenError.self) {
            try PrivateFiles(errorCode: .agentUnavailable).makeDirectory(file + "/below", parentMode: 0o700)
        }
        #expect(error.code == .agentUnavailable)
        #expect(error.message == "cannot make \(file)/below: Not a directory")
    }

    /// As on a file system that is read-only.
    @Test func namesAnotherFolderIfNoCommandHelps() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("file")
        try files.makeEmpty(file)
        let error = try #require(throws: TokenError.self) {
            try files.makeDirectory(file + "/below", parentMode: 0o700, alternative: "set FOLDER")
        }
        #expect(error.code == files.errorCode)
        #expect(error.message == "cannot make \(file)/below: Not a directory; set FOLDER")
    }

    @Test func replacesAFileByOneOfMode0600() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("file")
        try Data("old".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try files.replace(path, with: Array("new".utf8))
        #expect(try files.read(path) == Array("new".utf8))
        #expect(try TemporaryFolder.mode(of: path) == 0o600)
        #expect(try PrivateFiles.names(in: folder.path).filter { !$0.hasPrefix(".") } == ["file"])
    }

    @Test func makesANewFileInPlaceOfALink() throws {
        let folder = try TemporaryFolder()
        let (target, link) = (folder.file("target"), folder.file("link"))
        try Data("kept".utf8).write(to: URL(filePath: target))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        try files.makeEmpty(link)
        #expect(try files.read(target) == Array("kept".utf8))
        #expect(FileStatus(link, followsLinks: false)?.kind == .regular)
    }

    @Test func readsUpToTheLimit() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("file")
        try files.replace(path, with: [1, 2, 3, 4])
        #expect(try files.read(path, limit: 3) == [1, 2, 3])
        #expect(try files.size(of: path) == 4)
        #expect(try files.read(folder.file("missing")) == nil)
        #expect(try files.size(of: folder.file("missing")) == nil)
        #expect(throws: TokenError.self) { try files.read(folder.path) }
    }

    /// As on a file system that does not answer for a moment: the store would be taken for missing, and a new one be made in its place.
    @Test func takesNoFileForMissingThatCannotBeLookedAt() throws {
        let folder = try TemporaryFolder()
        // A link to itself, which the kernel does not follow.
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
        let error = #expect(throws: TokenError.self) { try files.size(of: link) }
        #expect(error?.code == files.errorCode)
    }

    @Test func takesAccessFromOthersOnlyOnAFileOfTheUsers() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("file")
        try files.makeEmpty(path)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        try files.restrictToOwner(path)
        #expect(try TemporaryFolder.mode(of: path) == 0o600)
        try files.restrictToOwner(folder.file("missing"))
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(throws: TokenError.self) { try files.restrictToOwner(link) }
        #expect(throws: TokenError.self) { try files.restrictToOwner(folder.path) }
    }

    @Test func givesALockToOneDescriptorAtATime() throws {
        let folder = try TemporaryFolder()
        let second = try files.lock(directory: folder.path)
        do {
            let first = try files.lock(directory: folder.path)
            #expect(first.acquire() == .acquired)
            #expect(second.acquire() == .held)
        }
        #expect(second.acquire() == .acquired)
    }

    @Test func distinguishesALockThatFailsFromALockThatIsHeld() throws {
        // No process can have a descriptor with this number.
        let lock = FileLock(try FileDescriptor(opened: Int32.max))
        #expect(lock.acquire() == .failed(SystemError(number: EBADF)))
    }

    @Test func refusesToOpenALinkForTheLockFile() throws {
        let folder = try TemporaryFolder()
        let (target, link) = (folder.file("target"), folder.file("link"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        #expect(throws: SystemError.self) { _ = try FileDescriptor(openingOrCreating: link) }
        #expect(!files.exists(target))
    }
}

@Suite(.bounded) struct PrivateFileStreamTests {
    private let files = PrivateFiles(errorCode: .invalidDeveloperParameter)

    @Test func writesAFileInPartsAndReadsItBack() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("cache")
        let part = [UInt8](repeating: 7, count: 300_000)
        let writer = try PrivateFileWriter(path, replacing: false, files)
        try writer.write(Secret(bytes: part))
        try writer.write(Secret("end"))
        #expect(!files.exists(path))
        try writer.finish()
        #expect(try TemporaryFolder.mode(of: path) == 0o600)

        let reader = try PrivateFileReader(path, files)
        #expect(reader.size == 300_003)
        var content: [UInt8] = []
        while let next = try reader.next() { next.withBytes { content += $0 } }
        #expect(content == part + Array("end".utf8))
        #expect(reader.position == 300_003)
    }

    #if os(Linux)
        /// The kernel removes a file without a name when the process ends, so that no secret is left after a signal.
        @Test func hasNoNameBeforeItIsFinished() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("cache")
            let writer = try PrivateFileWriter(path, replacing: true, files)
            try writer.write(Secret("secret"))
            #expect(try PrivateFiles.names(in: folder.path).sorted() == [".", ".."])
            try writer.finish()
            #expect(try PrivateFiles.names(in: folder.path).sorted() == [".", "..", "cache"])
            #expect(try TemporaryFolder.mode(of: path) == 0o600)
        }

        /// A temporary name, which a kill would leave, would be too long.
        @Test(arguments: [false, true])
        func givesAFileItsNameInOneStep(replaces: Bool) throws {
            let folder = try TemporaryFolder()
            let name = String(repeating: "n", count: 255)
            let writer = try PrivateFileWriter(folder.file(name), replacing: replaces, files)
            try writer.write(Secret("secret"))
            try writer.finish()
            #expect(try PrivateFiles.names(in: folder.path).sorted() == [".", "..", name])
        }

        @Test func finishesAFileInAFolderThatCannotBeRead() throws {
            let folder = try TemporaryFolder()
            let writer = try PrivateFileWriter(folder.file("cache"), replacing: false, files)
            try writer.write(Secret("secret"))
            #expect(chmod(folder.path, 0o300) == 0)
            defer { chmod(folder.path, 0o700) }
            try writer.finish()
            #expect(try files.size(of: folder.file("cache")) == 6)
        }
    #endif

    /// The opening of a pipe without a writer would wait without end.
    @Test func readsNoPipeThatANameLeadsTo() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for (path, kind) in [(pipe, "a named pipe"), (folder.path, "a folder"), ("/dev/zero", "a device")] {
            let error = #expect(throws: TokenError.self) { try PrivateFileReader(path, files) }
            #expect(error?.message.contains("\(path): it is \(kind), not a regular file; ") == true, "\(error as Any)")
            #expect(error?.message.contains("/dev/stdin") == true)
        }
    }

    @Test func readsAPipeThatIsOpenAlready() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        #expect(write(ends[1], "cache", 5) == 5)
        let reader = try PrivateFileReader("/dev/fd/\(ends[0])", files)
        close(ends[0])
        #expect(reader.size == nil)
        #expect(try reader.next()?.reveal() == "cache")
        close(ends[1])
        #expect(try reader.next() == nil)
    }

    @Test func appendsToARegularFileOnly() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, folder.path, "/dev/zero"] {
            #expect(throws: SystemError.self) { _ = try FileDescriptor(appendingTo: path) }
            let error = #expect(throws: SystemError.self) { _ = try FileDescriptor(readingRegular: path) }
            #expect(error == .notRegular)
            #expect(throws: TokenError.self) { try files.read(path) }
        }
        let trusted = #expect(throws: TrustedFileError.self) { _ = try FileDescriptor.trusted(pipe) }
        #expect(trusted?.description == "it is not a regular file")
        _ = try FileDescriptor(appendingTo: folder.file("file"))
        _ = try FileDescriptor(readingRegular: folder.file("file"))
    }

    #if os(Linux)
        /// Rules of the configuration may be in the rest.
        @Test func takesADirectoryThatCannotBeReadToItsEndForNoShorterOne() throws {
            let folder = try TemporaryFolder()
            let stream = try #require(opendir(folder.path))
            defer { closedir(stream) }
            let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
            #expect(dup2(null, dirfd(stream)) >= 0)
            close(null)
            #expect(throws: SystemError(number: ENOTDIR)) { try PrivateFiles.names(of: stream) }
        }
    #endif

    @Test func findsNoNamesInADirectoryThatDoesNotExistAndNoneInAFile() throws {
        let folder = try TemporaryFolder()
        #expect(try PrivateFiles.names(in: folder.file("none")).isEmpty)
        try Data().write(to: URL(filePath: folder.file("file")))
        #expect(throws: SystemError.self) { try PrivateFiles.names(in: folder.file("file")) }
    }

    /// Another thread may start a program at any time, which must not inherit an end.
    @Test(arguments: [true, false]) func closesBothEndsOfAPipeOnExec(isNonBlocking: Bool) throws {
        let ends = try PipeEnds(isNonBlocking: isNonBlocking)
        defer { for end in [ends.read, ends.write] { close(end) } }
        for end in [ends.read, ends.write] {
            #expect(fcntl(end, F_GETFD) & FD_CLOEXEC != 0)
            #expect((fcntl(end, F_GETFL) & O_NONBLOCK != 0) == isNonBlocking)
        }
        #expect(write(ends.write, "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(ends.read, &byte, 1) == 1 && byte == UInt8(ascii: "x"))
    }

    #if os(Linux)
        /// The descriptor is closed when the file turns out to be of another kind.
        @Test func leavesNoDescriptorOfAFileOfAnotherKind() throws {
            let folder = try TemporaryFolder()
            let pipe = folder.file("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            for _ in 0..<10 {
                #expect(throws: SystemError.self) { _ = try FileDescriptor(readingRegular: pipe) }
            }
            let open = try PrivateFiles.names(in: "/proc/self/fd").filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == pipe
            }
            #expect(open.isEmpty)
        }
    #endif

    @Test func removesAFileThatIsNotFinished() throws {
        let folder = try TemporaryFolder()
        do {
            let writer = try PrivateFileWriter(folder.file("cache"), replacing: true, files)
            try writer.write(Secret("part"))
        }
        #expect(try PrivateFiles.names(in: folder.path).filter { $0.contains("cache") }.isEmpty)
    }

    /// A writer that is killed while it replaces a file leaves the complete one, with its secrets, under a temporary name.
    @Test func removesWhatAKilledWriterHasLeft() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("cache")
        let left = DraftName.random(of: path)
        let others = ["cache.part", "cache.1.part", "cache.sso-notes.part", "cache.sso-0123456789ab_.part"]
            .map(folder.file)
        for file in others + [left, DraftName.random(of: folder.file("cach")), DraftName.random(of: path + "s")] {
            try files.replace(file, with: Array("secret".utf8))
        }
        try FileManager.default.createDirectory(
            atPath: DraftName.random(of: path), withIntermediateDirectories: false)
        let before = try PrivateFiles.names(in: folder.path).count
        try PrivateFileWriter(path, replacing: true, files).finish()
        #expect(!files.exists(left))
        #expect(try PrivateFiles.names(in: folder.path).count == before, "one has gone, and one has come")
    }

    @Test func leavesTheFilesOfOtherWritersAlone() throws {
        let folder = try TemporaryFolder()
        let (path, draft) = (folder.file("cache"), DraftName.random(of: folder.file("cache")))
        let lock = FileLock(try FileDescriptor(creating: draft))
        #expect(lock.acquire() == .acquired)
        let writer = try PrivateFileWriter(path, replacing: true, files)
        try writer.finish()
        #expect(files.exists(draft))
        withExtendedLifetime(lock) {}
        // Locked under every name that it has had.
        let own = FileLock(try FileDescriptor(readingRegular: path))
        #expect(own.acquire() == .held)
        withExtendedLifetime(writer) {}
    }

    @Test(arguments: [false, true])
    func replacesAFileOnlyWhenTold(replaces: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("cache")
        try files.replace(path, with: Array("old".utf8))
        let writer = try PrivateFileWriter(path, replacing: replaces, files)
        try writer.write(Secret("new"))
        if replaces {
            try writer.finish()
        } else {
            #expect(throws: TokenError.self) { try writer.finish() }
        }
        #expect(try files.read(path) == Array((replaces ? "new" : "old").utf8))
    }

    /// A file in place of `/dev/null` would break the machine of an administrator.
    @Test func replacesNothingButAFile() throws {
        let folder = try TemporaryFolder()
        let (pipe, file) = (folder.file("pipe"), folder.file("file"))
        #expect(mkfifo(pipe, 0o600) == 0)
        try files.makeEmpty(file)
        for (name, target) in [("null", "/dev/null"), ("lost", "/nonexistent"), ("link", file), ("below", folder.path)]
        {
            try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: target)
        }
        let obstacles = [
            (pipe, "not a regular file"), ("/dev/null", "not a regular file"), (folder.path, "a directory"),
            (folder.file("null"), "not a regular file"), (folder.file("lost"), "a symbolic link"),
            (folder.file("link"), "a symbolic link"), (folder.file("below"), "a directory"),
        ]
        for (path, obstacle) in obstacles {
            let before = FileStatus(path, followsLinks: false)?.kind
            let error = #expect(throws: TokenError.self) { try PrivateFileWriter(path, replacing: true, files) }
            #expect(error?.message.contains("\(path) is \(obstacle); name ") == true, "\(String(describing: error))")
            #expect(FileStatus(path, followsLinks: false)?.kind == before)
        }
        #expect(try files.size(of: file) == 0)
    }

    @Test(
        arguments: [
            ("secret\nrest", "secret"), ("no end", "no end"), ("\n", ""), ("", ""),
            (String(repeating: "x", count: PassphraseLine.limit), String(repeating: "x", count: PassphraseLine.limit)),
        ])
    func readsOneLineAndNotBeyondIt(input: String, line: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("input")
        try files.replace(path, with: Array(input.utf8))
        let file = try FileDescriptor(reading: path)
        #expect(try PassphraseLine.read(from: file.number).reveal() == line)
        let rest = try file.readToEnd(limit: 1 << 20)
        #expect(String(decoding: rest, as: UTF8.self) == (input.contains("rest") ? "rest" : ""))
    }

    @Test func refusesALongerLine() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("input")
        try files.replace(path, with: [UInt8](repeating: 120, count: PassphraseLine.limit + 1))
        let file = try FileDescriptor(reading: path)
        let error = try #require(throws: TokenError.self) { try PassphraseLine.read(from: file.number) }
        #expect(error.code == .invalidDeveloperParameter)
    }
}
