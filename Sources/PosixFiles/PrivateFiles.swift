package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Files and directories that only the user of this process may read or write.
package struct PrivateFiles: Sendable {
    /// The code of the errors that the methods throw.
    package let errorCode: TokenError.Code

    package init(errorCode: TokenError.Code) { self.errorCode = errorCode }

    /// Whether there is a file, a directory or a symbolic link with the name.
    package func exists(_ path: String) -> Bool { FileStatus(path, followsLinks: false) != nil }

    /// The size of a file in bytes; nil if it does not exist.
    ///
    /// - Throws: if that cannot be found out, as on a file system that does not answer for a moment.
    package func size(of path: String) throws(TokenError) -> Int? {
        do throws(SystemError) { return try FileStatus.read(path)?.size } catch {
            throw failure("cannot read \(path)", error)
        }
    }

    /// Makes a directory with mode 0700, whatever the umask, unless there is one.
    ///
    /// - Parameters:
    ///   - parentMode: the mode of the directories above it that do not exist either, less what the umask takes from other users.
    ///   - alternative: how to name another directory, such as “set X to a folder of yours”: the end of an error for which no command
    ///     helps, as on a file system that is read-only.
    package func makeDirectory(
        _ path: String, parentMode: UInt32, alternative: String? = nil
    ) throws(TokenError) {
        // With a trailing slash, the directory would be taken for the parent of a directory without a name.
        let path = path.lastIndex { $0 != "/" }.map { String(path[...$0]) } ?? path
        do throws(TokenError) {
            if try make(path, 0o700, parentMode: mode_t(parentMode)) { chmod(path, 0o700) }
        } catch {
            guard let alternative, error.problem.remedy == nil else { throw error }
            throw TokenError(errorCode, "\(error.problem.statement); \(alternative)")
        }
    }

    /// Makes a directory, and first those above it that do not exist; returns false if there is a file with the name.
    private func make(_ path: String, _ mode: mode_t, parentMode: mode_t) throws(TokenError) -> Bool {
        if make(path, mode) { return true }
        var error = SystemError.last
        let parent = Self.parent(of: path)
        if error.isFileMissing, parent != path {
            // The user's own bits are kept, as by `mkdir -p`: without them nothing could be made in the directory.
            if try make(parent, parentMode, parentMode: parentMode), let status = FileStatus(parent),
                status.mode & 0o700 != 0o700
            {
                chmod(parent, mode_t(status.mode) | 0o700)
            }
            if make(path, mode) { return true }
            error = .last
        }
        guard error.number == EEXIST else { throw failure("cannot make \(path)", error, at: path) }
        return false
    }

    /// Makes a directory, and waits until its name has reached the disk: what is in it would be lost with it. Returns false, with `errno`, if
    /// that is not possible. A parent that cannot be read cannot be synchronised, and is used nevertheless.
    private func make(_ path: String, _ mode: mode_t) -> Bool {
        guard mkdir(path, mode) == 0 else { return false }
        try? synchronizeFolder(of: path)
        return true
    }

    /// The names of the files in a directory; none if it does not exist.
    ///
    /// - Throws: if the directory cannot be read to its end.
    package static func names(in directory: String) throws(SystemError) -> [String] {
        guard let stream = opendir(directory) else {
            let error = SystemError.last
            guard error.isFileMissing else { throw error }
            return []
        }
        defer { closedir(stream) }
        return try names(of: stream)
    }

    #if canImport(Darwin)
        typealias DirectoryStream = UnsafeMutablePointer<DIR>
    #else
        typealias DirectoryStream = OpaquePointer
    #endif

    static func names(of stream: DirectoryStream) throws(SystemError) -> [String] {
        var names: [String] = []
        while true {
            // An error differs from the end in this only.
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .last }
                return names
            }
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
    }

    /// Sets the mode of a file to 0600 if other users could access it, as after a restore from a backup. A failure is ignored,
    /// since the mode of the directory still protects the file. A file that does not exist is left alone.
    ///
    /// - Throws: if there is something other than a regular file of the user's with the name.
    package func restrictToOwner(_ path: String) throws(TokenError) {
        guard let status = FileStatus(path, followsLinks: false) else { return }
        guard status.kind == .regular, status.isOwn else {
            throw TokenError(
                errorCode, "\(path) is not a file of user \(FileStatus.effectiveUser); move it elsewhere")
        }
        guard status.isAccessibleToOthers else { return }
        // By its descriptor: the agent's process may change no mode by a path.
        try? FileDescriptor(readingRegular: path).restrictToOwner()
    }

    /// Makes an empty file of mode 0600, whatever the umask, in place of any file with the name.
    package func makeEmpty(_ path: String) throws(TokenError) {
        unlink(path)
        try attempt("cannot make", path) { () throws(SystemError) in _ = try FileDescriptor(creating: path) }
    }

    /// Reads the content of a regular file, `limit` bytes at most; nil if the file does not exist.
    package func read(_ path: String, limit: Int = .max) throws(TokenError) -> [UInt8]? {
        do throws(SystemError) {
            // A pipe would have no end, and a device may have none.
            return try FileDescriptor(readingRegular: path).readToEnd(limit: limit)
        } catch {
            if error.isFileMissing { return nil }
            let command = error.isPermissionDenied ? Self.reading(path) : nil
            throw TokenError(errorCode, "cannot read \(path): \(error)", command.map { .run($0) })
        }
    }

    /// The command with which the user may read a file of theirs again; nil if that is not what is missing.
    package static func reading(_ path: String) -> String? {
        guard let status = FileStatus(path), status.isOwn, status.mode & 0o400 == 0 else { return nil }
        return "chmod u+rw \(path.shellWord)"
    }

    /// Replaces a file of a folder of this program's by a new one of mode 0600 in one step: a reader, and the disk after a crash, has the
    /// old content or the new content. A file with `.new` at the end of the name is overwritten; elsewhere, use `PrivateFileWriter`.
    package func replace(_ path: String, with bytes: [UInt8]) throws(TokenError) {
        let draft = Self.draft(of: path)
        unlink(draft)
        do throws(SystemError) {
            let file = try FileDescriptor(creating: draft)
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(SystemError) in try file.writeAll(bytes) }
            }.get()
            try file.synchronize()
        } catch {
            unlink(draft)
            throw failure("cannot write \(path)", error, at: path)
        }
        try move(draft, to: path)
    }

    /// Removes what a process has left that was killed while it replaced a file; has no effect if there is nothing.
    package func removeDraft(of path: String) { unlink(Self.draft(of: path)) }

    private static func draft(of path: String) -> String { path + ".new" }

    /// Renames a file, in place of any other with the new name, and waits until that has reached the disk.
    package func move(_ path: String, to other: String) throws(TokenError) {
        guard rename(path, other) == 0 else { throw failure("cannot move \(path) to \(other)", .last, at: other) }
        try synchronizeFolder(of: other)
    }

    /// Waits until the name of a file, or its absence, has reached the disk.
    package func synchronizeFolder(of path: String) throws(TokenError) {
        let parent = Self.parent(of: path)
        let directory = try openDirectory(parent, "cannot use \(parent)")
        do throws(SystemError) {
            try directory.synchronizeNames()
        } catch {
            throw failure("cannot write \(path)", error, at: path)
        }
    }

    /// Removes a file; has no effect if there is none, or if it cannot be removed.
    package func remove(_ path: String) { unlink(path) }

    /// Removes a file for good, and waits until that has reached the disk; has no effect if there is none.
    package func delete(_ path: String) throws(TokenError) {
        guard unlink(path) == 0 else {
            let error = SystemError.last
            if error.isFileMissing { return }
            throw failure("cannot remove \(path)", error)
        }
        try synchronizeFolder(of: path)
    }

    /// A lock on a directory, not acquired yet.
    package func lock(directory: String) throws(TokenError) -> FileLock {
        FileLock(try openDirectory(directory, "cannot open \(directory)"))
    }

    /// The error for a failed system call.
    ///
    /// - Parameter path: the file that was to be made or written; nil if that is not what has failed.
    package func failure(_ operation: String, _ error: SystemError, at path: String? = nil) -> TokenError {
        TokenError(errorCode, "\(operation): \(error)").suggesting(path.flatMap { Self.making($0, after: error) })
    }

    /// The command that helps, or that shows what has to be changed, if a file could not be made or written; nil if none does.
    private static func making(_ path: String, after error: SystemError) -> String? {
        let folder = parent(of: path)
        if error.isDiskFull { return showingRoom(in: folder) }
        if error.isFileMissing, FileStatus(folder) == nil { return "mkdir -p \(folder.shellWord)" }
        guard error.isPermissionDenied, let status = FileStatus(folder), status.isOwn, status.mode & 0o200 == 0 else {
            return nil
        }
        return "chmod u+w \(folder.shellWord)"
    }

    /// The command that shows how full the disk with a folder is: its bytes or, if it has no room for another file, its inodes.
    package static func showingRoom(in folder: String) -> String {
        "df \(lacksInodes(folder) ? "-i" : "-h") \(folder.shellWord)"
    }

    /// Whether the file system of a folder has no inode for another file, although it may have free bytes. One that does not count its inodes
    /// has always one.
    package static func lacksInodes(_ folder: String) -> Bool {
        var room = statvfs()
        return statvfs(folder, &room) == 0 && room.f_files > 0 && room.f_favail == 0
    }

    private func openDirectory(_ path: String, _ operation: String) throws(TokenError) -> FileDescriptor {
        do throws(SystemError) { return try FileDescriptor(directory: path) } catch { throw failure(operation, error) }
    }

    /// - Parameters:
    ///   - operation: what is done to the file, such as `cannot write`.
    func attempt<Value>(
        _ operation: String, _ path: String, _ body: () throws(SystemError) -> Value
    ) throws(TokenError) -> Value {
        do throws(SystemError) { return try body() } catch { throw failure("\(operation) \(path)", error, at: path) }
    }

    /// The directory in which a path is: `/` also for the root itself, `.` for a name alone.
    package static func parent(of path: String) -> String {
        // By the bytes, as the kernel divides it: a slash forms one `Character` with a combining character behind it.
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
