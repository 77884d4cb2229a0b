package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads a file of secrets part by part.
package final class PrivateFileReader {
    /// The length in bytes; nil for anything but a regular file, such as a pipe.
    package let size: Int?
    /// The number of bytes read so far.
    package private(set) var position = 0
    private let files: PrivateFiles
    private let path: String
    private let file: FileDescriptor

    /// - Parameter path: a regular file, or a file that this process has open already, such as `/dev/stdin`.
    /// - Throws: the error of `files`, with what to do, if it is anything else or cannot be read.
    package init(_ path: String, _ files: PrivateFiles) throws(TokenError) {
        self.path = path
        self.files = files
        do throws(TrustedFileError) {
            file = try .named(path, orInput: true)
        } catch {
            throw TokenError(files.errorCode, error.problem.after("cannot read \(path): "))
        }
        let status = try? file.status
        size = status?.kind == .regular ? status?.size : nil
    }

    /// Reads the next part; nil at the end.
    ///
    /// - Throws: the error of `files` if the file cannot be read.
    package func next() throws(TokenError) -> Secret? {
        var bytes = [UInt8](repeating: 0, count: Self.partSize)
        defer { bytes.wipe() }
        let length = try files.attempt("cannot read", path) { () throws(SystemError) in
            try bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(SystemError) in try file.readBytes(into: buffer) }
            }.get()
        }
        guard length > 0 else { return nil }
        position += length
        return Secret(bytes: bytes[..<length])
    }

    private static let partSize = 256 * 1024
}

/// Writes a file of mode 0600 part by part. The file appears under its name when it is complete; an incomplete one is removed.
///
/// On Linux, an incomplete file has no name, so that it is removed also if the process is killed; only a kill while a file is being
/// replaced can leave the new one, complete, under its temporary name. On other systems and file systems, the file has its temporary name
/// from the beginning, and a kill leaves it. The next writer of the same file removes such a file, unless it is locked by a process that
/// still writes it.
package final class PrivateFileWriter {
    private let files: PrivateFiles
    private let path: String
    private let replaces: Bool
    /// The temporary name: in the directory of the file, so that the file can be renamed, and with a random number, so that nobody can take
    /// it before. For a file without a name, only `finish` uses it, to replace another file.
    private let draft: String
    /// Tells other writers of the file that this one has not ended.
    private let lock: FileLock
    private var isFinished = false

    /// - Parameter replaces: whether a file with the name is replaced; otherwise it is an error.
    /// - Throws: the error of `files` if the file cannot be created, or if it would replace anything but a regular file.
    package init(_ path: String, replacing replaces: Bool, _ files: PrivateFiles) throws(TokenError) {
        if let obstacle = Self.obstacle(at: path) { throw TokenError(files.errorCode, "\(path) is \(obstacle)") }
        self.files = files
        self.path = path
        self.replaces = replaces
        draft = DraftName.random(of: path)
        Self.removeDrafts(of: path)
        do throws(SystemError) {
            lock = try Self.makeFile(path, draft)
        } catch {
            throw files.failure("cannot write \(path)", error, at: path)
        }
    }

    /// The object at a path if a file must not replace it, and what to do; nil if there is none. A pipe or a device, such as `/dev/null`, is
    /// meant to be written to, and a link to lead elsewhere: each would be lost.
    private static func obstacle(at path: String) -> String? {
        switch FileStatus(path)?.kind {
        case .directory: "a directory; name a file in it"
        case .regular, nil:
            FileStatus(path, followsLinks: false)?.kind == .symbolicLink
                ? "a symbolic link; name the file that it leads to" : nil
        default: "not a regular file; name another"
        }
    }

    /// Removes the temporary files that writers of the file have left who were killed.
    private static func removeDrafts(of path: String) {
        let folder = PrivateFiles.parent(of: path)
        let names = (try? PrivateFiles.names(in: folder)) ?? []
        for draft in names.filter({ DraftName.isDraft($0, of: path) }).map({ "\(folder)/\($0)" }) {
            guard let status = FileStatus(draft, followsLinks: false), status.kind == .regular, status.isOwn else {
                continue
            }
            try? removeDraft(draft)
        }
    }

    private static func removeDraft(_ draft: String) throws(SystemError) {
        let lock = FileLock(try FileDescriptor(readingRegular: draft))
        if lock.acquire() == .acquired { unlink(draft) }
    }

    private static func makeFile(_ path: String, _ draft: String) throws(SystemError) -> FileLock {
        do throws(SystemError) {
            let lock = FileLock(try FileDescriptor(unnamedIn: PrivateFiles.parent(of: path)))
            _ = lock.acquire()
            return lock
        } catch {
            let lock = FileLock(try FileDescriptor(creating: draft))
            // Another writer may have taken it for one that was left, before it was locked.
            guard lock.acquire() != .held, try lock.file.status.hasName else {
                unlink(draft)
                throw SystemError(number: EAGAIN)
            }
            return lock
        }
    }

    deinit { if !isFinished { unlink(draft) } }

    /// Appends bytes.
    ///
    /// - Throws: the error of `files` if they cannot be written.
    package func write(_ part: Secret) throws(TokenError) {
        try files.attempt("cannot write", path) { () throws(SystemError) in
            try part.withBytes { bytes in Result { () throws(SystemError) in try lock.file.writeAll(bytes) } }.get()
        }
    }

    /// Gives the complete file its name, and waits until that has reached the disk.
    ///
    /// - Throws: the error of `files` if that fails, or if there is a file with the name and it is not to be replaced.
    package func finish() throws(TokenError) {
        try files.attempt("cannot write", path) { () throws(SystemError) in
            try lock.file.synchronize()
            try addName()
            isFinished = true
            try synchronizeFolder()
        }
    }

    private func addName() throws(SystemError) {
        if try !lock.file.status.hasName {
            do throws(SystemError) {
                // In one step, so that a kill leaves no temporary name.
                return try lock.file.addName(path)
            } catch {
                guard replaces, error.number == EEXIST else { throw error }
            }
            try lock.file.addName(draft)
        }
        // `link` fails if there is a file with the name; `rename` replaces it.
        guard (replaces ? rename(draft, path) : link(draft, path)) == 0 else { throw .last }
        if !replaces { unlink(draft) }
    }

    /// Waits until the file's name has reached the disk. A folder that cannot be read cannot be synchronised, and is used nevertheless.
    private func synchronizeFolder() throws(SystemError) {
        do throws(SystemError) {
            try FileDescriptor(directory: PrivateFiles.parent(of: path)).synchronizeNames()
        } catch {
            guard error.isPermissionDenied else { throw error }
        }
    }
}

/// The temporary names of a file that is being written: no other program uses one, and nobody can take one before.
enum DraftName {
    private static let mark = ".sso-"
    private static let end = ".part"
    private static let digits = Set("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
    /// The number of digits of the largest number.
    private static let length = 13

    static func random(of path: String) -> String {
        let number = String(UInt64.random(in: .min ... .max), radix: digits.count)
        return path + mark + String(repeating: "0", count: length - number.count) + number + end
    }

    /// Whether a name in the folder of a file is one of them.
    static func isDraft(_ name: String, of path: String) -> Bool {
        // By bytes: two texts are equal if they look alike, and name two files.
        let file = path.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        let (prefix, bytes) = (file + Array(mark.utf8), Array(name.utf8))
        return bytes.count == prefix.count + length + end.utf8.count && bytes.starts(with: prefix)
            && bytes.suffix(end.utf8.count).elementsEqual(end.utf8)
            && bytes.dropFirst(prefix.count).prefix(length).allSatisfy(digits.contains)
    }
}
