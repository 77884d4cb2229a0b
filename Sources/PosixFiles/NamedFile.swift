#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension FileDescriptor {
    /// Opens a regular file that a user has named, for reading. Returns at once, also for a pipe without a writer.
    ///
    /// - Parameter allowsInput: whether the path may also be `/dev/stdin` or another file that this process has open already, such as
    ///   the pipe of a shell's process substitution (`/dev/fd/63`). Its end has to be waited for.
    package static func named(_ path: String, orInput allowsInput: Bool = false) throws(TrustedFileError)
        -> FileDescriptor
    {
        let file = try attempt { () throws(SystemError) in try FileDescriptor(withoutWaiting: path) }
        let status = try attempt { () throws(SystemError) in try file.status }
        if status.kind == .regular { return file }
        if allowsInput, isInput(path), status.kind != .directory {
            // Reads wait from now on.
            let flags = fcntl(file.number, F_GETFL)
            if flags >= 0 { _ = fcntl(file.number, F_SETFL, flags & ~O_NONBLOCK) }
            return file
        }
        let remedy =
            allowsInput
            ? "name a regular file, or /dev/stdin to read what another program writes" : "name a regular file"
        throw TrustedFileError("it is \(status.kind.name), not a regular file; \(remedy)")
    }

    private static func isInput(_ path: String) -> Bool {
        path == "/dev/stdin" || path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/")
    }
}

extension FileStatus.Kind {
    fileprivate var name: String {
        switch self {
        case .regular: "a regular file"
        case .directory: "a folder"
        case .socket: "a socket"
        case .symbolicLink: "a symbolic link"
        case .pipe: "a named pipe"
        case .device: "a device"
        case .other: "of an unknown kind"
        }
    }
}
