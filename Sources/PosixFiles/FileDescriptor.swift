internal import CAgentSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An open file or directory: closed at the end of the value's lifetime, and on exec.
package struct FileDescriptor: ~Copyable {
    package let number: Int32

    /// Opens a file of the kernel, such as those in `/proc`, for reading. The opening of a file that a user names could wait without
    /// end: see `named(_:orInput:)`.
    package init(reading path: String) throws(SystemError) {
        try self.init(opened: open(path, O_RDONLY | O_CLOEXEC))
    }

    /// Opens a file without waiting for the other end of a pipe, as `open` does by itself. A file that it creates has mode 0600.
    ///
    /// - Parameter flags: those of `open` that say what the file is opened for.
    init(withoutWaiting path: String, _ flags: Int32 = O_RDONLY) throws(SystemError) {
        try self.init(opened: open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600))
    }

    /// Opens a device for reading and writing, without waiting for anything.
    ///
    /// - Throws: ENODEV if the path is that of something else.
    package init(device path: String) throws(SystemError) {
        let file = try FileDescriptor(withoutWaiting: path, O_RDWR)
        guard try file.status.kind == .device else { throw SystemError(number: ENODEV) }
        self = file
    }

    /// Opens a regular file, and nothing else, without waiting.
    private init(regular path: String, _ flags: Int32) throws(SystemError) {
        let file = try FileDescriptor(withoutWaiting: path, flags)
        guard try file.status.kind == .regular else { throw .notRegular }
        self = file
    }

    /// Opens a directory.
    package init(directory path: String) throws(SystemError) {
        try self.init(opened: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Opens a file of mode 0600, whatever the umask, for reading and writing, and creates it if it does not exist. Symbolic links are
    /// refused.
    package init(openingOrCreating path: String) throws(SystemError) {
        try self.init(opened: open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600))
        try? restrictToOwner()
    }

    /// Opens a regular file of mode 0600 for appending, and creates it if it does not exist. Symbolic links are refused.
    package init(appendingTo path: String) throws(SystemError) {
        try self.init(regular: path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW)
    }

    /// Opens an existing regular file for reading.
    package init(readingRegular path: String) throws(SystemError) {
        try self.init(regular: path, O_RDONLY)
    }

    /// Sets the mode to 0600.
    package func restrictToOwner() throws(SystemError) {
        guard fchmod(number, 0o600) == 0 else { throw .last }
    }

    /// Creates a file of mode 0600, whatever the umask.
    ///
    /// - Throws: EEXIST if there is a file or a symbolic link with the name.
    package init(creating path: String) throws(SystemError) {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try FileDescriptor(opened: open(path, flags, 0o600))
        try file.restrictToOwner()
        self = file
    }

    /// Creates a file of mode 0600 without a name, which the kernel removes when it is closed, however the process ends.
    ///
    /// - Throws: if the file system has no such files; ENOTSUP if the system has none, or they could not get a name.
    init(unnamedIn directory: String) throws(SystemError) {
        #if os(Linux)
            // O_TMPFILE, a macro that Swift does not import.
            let flags = O_RDWR | O_DIRECTORY | 0o20_000_000 | O_CLOEXEC
            let file = try FileDescriptor(opened: open(directory, flags, 0o600))
            guard fchmod(file.number, 0o600) == 0, access(Self.path(of: file.number), F_OK) == 0 else {
                throw SystemError(number: ENOTSUP)
            }
            self = file
        #else
            throw SystemError(number: ENOTSUP)
        #endif
    }

    /// Gives a name to a file without one.
    ///
    /// - Throws: EEXIST if there is a file or a symbolic link with the name.
    func addName(_ path: String) throws(SystemError) {
        let code = linkat(AT_FDCWD, Self.path(of: number), AT_FDCWD, path, AT_SYMLINK_FOLLOW)
        guard code == 0 else { throw .last }
    }

    private static func path(of number: Int32) -> String { "/proc/self/fd/\(number)" }

    /// Takes the result of `open`, or of another call that returns a descriptor.
    package init(opened number: Int32) throws(SystemError) {
        guard number >= 0 else { throw .last }
        self.number = number
    }

    deinit { close(number) }

    package var status: FileStatus {
        get throws(SystemError) {
            var status = stat()
            guard fstat(number, &status) == 0 else { throw .last }
            return FileStatus(status)
        }
    }

    /// Reads into a buffer from the current position.
    ///
    /// - Returns: the number of bytes; 0 at the end.
    package func readBytes(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        while true {
            let count = read(number, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw .last }
        }
    }

    /// Reads up to `limit` bytes of a regular file from the current position on. The array is allocated once, so that the only copy of a
    /// secret is the one that is returned.
    package func readToEnd(limit: Int) throws(SystemError) -> [UInt8] {
        let wanted = try min(status.size, limit)
        guard wanted > 0 else { return [] }
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            while count < wanted, failure == nil {
                do throws(SystemError) {
                    let length = try readBytes(
                        into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]))
                    if length == 0 { break }
                    count += length
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads up to `limit` bytes of a file that has no size of its own, such as those in `/proc`.
    package func readStream(limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var part = [UInt8](repeating: 0, count: min(4096, limit - bytes.count))
            let read = part.withUnsafeMutableBytes { part in
                Result { () throws(SystemError) in try readBytes(into: part) }
            }
            let count = try read.get()
            if count == 0 { break }
            bytes += part[..<count]
        }
        return bytes
    }

    /// Reads up to `limit` bytes from a position on, as `readStream(limit:)` does.
    package func readStream(from position: Int, limit: Int) throws(SystemError) -> [UInt8] {
        guard lseek(number, off_t(position), SEEK_SET) >= 0 else { throw .last }
        return try readStream(limit: limit)
    }

    /// Writes all of the bytes at the current position.
    package func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try Self.writeAll(bytes, to: number)
    }

    /// Writes all of the bytes to a descriptor that is not this type's to close.
    ///
    /// Another process that has the same pipe or terminal open may have set it not to wait for the reader; it is waited for here.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to number: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = write(number, part.baseAddress, part.count)
            if count < 0, errno == EINTR || (errno == EAGAIN && canWait(toWriteTo: number)) { continue }
            guard count > 0 else { throw .last }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until a descriptor takes more bytes, or has no reader.
    ///
    /// - Returns: false, with `errno`, if it cannot be waited for.
    private static func canWait(toWriteTo number: Int32) -> Bool {
        var event = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return poll(&event, 1, -1) >= 0 || errno == EINTR
    }

    /// Replaces the content of the file by a short text.
    package func replaceContent(with text: String) {
        let bytes = Array(text.utf8)
        ftruncate(number, 0)
        _ = pwrite(number, bytes, bytes.count, 0)
    }

    /// Waits until the content has reached the disk.
    package func synchronize() throws(SystemError) {
        #if canImport(Darwin)
            // `fsync` leaves it in the disk's cache there. Some file systems do not have this.
            if fcntl(number, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(number) == 0 else { throw .last }
    }

    /// Waits until the names in a directory have reached the disk. Some file systems do not synchronise directories.
    func synchronizeNames() throws(SystemError) {
        do throws(SystemError) {
            try synchronize()
        } catch {
            guard error.number == EINVAL else { throw error }
        }
    }
}

/// The two ends of a pipe, which are closed on exec. The caller that makes the pipe closes them.
package struct PipeEnds: Sendable {
    package let read: Int32
    package let write: Int32

    /// - Parameter isNonBlocking: whether reading from an empty pipe, and writing to a full one, fails instead of waiting.
    package init(isNonBlocking: Bool = false) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let code = agent_make_pipe(&ends, isNonBlocking ? 1 : 0)
        guard code == 0 else { throw SystemError(number: code) }
        (read, write) = (ends[0], ends[1])
    }
}

/// Two connected Unix sockets. Reading and writing fail instead of waiting.
package struct SocketPair: Sendable {
    package let first: Int32
    package let second: Int32

    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let code = agent_make_socket_pair(&ends)
        guard code == 0 else { throw SystemError(number: code) }
        (first, second) = (ends[0], ends[1])
    }
}
