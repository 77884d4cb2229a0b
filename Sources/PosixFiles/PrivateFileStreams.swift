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
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
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

/// Writes a file of mode 0600 part by part. The file appears under its name when it is complete; an incomplete one is removed,
/// on Linux also if the process is killed. A process that is killed while it replaces a file may leave the complete one under its
/// temporary name.
package final class PrivateFileWriter {
    private let files: PrivateFiles
    private let path: String
    private let replaces: Bool
    /// The temporary name, in the directory of the file, so that it can be renamed, and one that nobody can take before. Where a file can do
    /// without a name, it is used only by `finish`, to replace another file.
    private let draft: String
    private let file: FileDescriptor
    private var isFinished = false

    /// - Parameter replaces: whether a file with the name is replaced; otherwise it is an error.
    /// - Throws: the error of `files` if the file cannot be created, or if it would replace anything but a regular file.
    package init(_ path: String, replacing replaces: Bool, _ files: PrivateFiles) throws(TokenError) {
        if let obstacle = Self.obstacle(at: path) { throw TokenError(files.errorCode, "\(path) is \(obstacle)") }
        self.files = files
        self.path = path
        self.replaces = replaces
        draft = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        do throws(SystemError) {
            file = try Self.makeFile(path, draft)
        } catch {
            throw files.failure("cannot write \(path)", error, at: path)
        }
    }

    /// What is at a path that a file does not replace, and what to do. A pipe or a device, such as `/dev/null`, is meant to be written to,
    /// and a link to lead elsewhere: each would be lost.
    private static func obstacle(at path: String) -> String? {
        switch FileStatus(path)?.kind {
        case .directory: "a directory; name a file in it"
        case .regular, nil:
            FileStatus(path, followsLinks: false)?.kind == .symbolicLink
                ? "a symbolic link; name the file that it leads to" : nil
        default: "not a regular file; name another"
        }
    }

    private static func makeFile(_ path: String, _ draft: String) throws(SystemError) -> FileDescriptor {
        do throws(SystemError) {
            return try FileDescriptor(unnamedIn: PrivateFiles.parent(of: path))
        } catch {
            return try FileDescriptor(creating: draft)
        }
    }

    deinit { if !isFinished { unlink(draft) } }

    /// Appends bytes.
    ///
    /// - Throws: the error of `files` if they cannot be written.
    package func write(_ part: Secret) throws(TokenError) {
        try files.attempt("cannot write", path) { () throws(SystemError) in
            try part.withBytes { bytes in Result { () throws(SystemError) in try file.writeAll(bytes) } }.get()
        }
    }

    /// Gives the complete file its name, and waits until that has reached the disk.
    ///
    /// - Throws: the error of `files` if that fails, or if there is a file with the name and it is not to be replaced.
    package func finish() throws(TokenError) {
        try files.attempt("cannot write", path) { () throws(SystemError) in
            try file.synchronize()
            try addName()
            isFinished = true
            try synchronizeFolder()
        }
    }

    private func addName() throws(SystemError) {
        if try !file.status.hasName {
            do throws(SystemError) {
                // In one step, so that a kill leaves no temporary name.
                return try file.addName(path)
            } catch {
                guard replaces, error.number == EEXIST else { throw error }
            }
            try file.addName(draft)
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
