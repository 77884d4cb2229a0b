package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The folder that holds the socket: the agent's own user's, and nobody else may write to it.
package struct SocketFolder: Sendable {
    package let path: String

    /// Makes the folder (mode 0700) and those above it where they are missing.
    ///
    /// - Throws: `agentUnavailable` (-53004), saying what to do, when it cannot be made or others could tamper with it.
    package init(ofSocket socketPath: String) throws(TokenError) {
        guard socketPath.hasPrefix("/"), let slash = socketPath.lastIndex(of: "/") else {
            throw TokenError(.agentUnavailable, "the socket path \(socketPath) is not absolute")
        }
        path = slash == socketPath.startIndex ? "/" : String(socketPath[..<slash])
        try Self.make(path)
        try check()
    }

    private func check() throws(TokenError) {
        let (owner, mode) = try status()
        guard owner == geteuid() else {
            throw TokenError(
                .agentUnavailable, "\(path) belongs to user \(owner); set SSO_AGENT_SOCK to a folder of yours")
        }
        guard mode & 0o022 == 0 else {
            throw TokenError(
                .agentUnavailable, "others may write to \(path) and could replace the socket; run: chmod 0700 \(path)")
        }
    }

    private func status() throws(TokenError) -> (owner: UInt32, mode: UInt32) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw TokenError(.agentUnavailable, "\(path) is not a folder")
        }
        return (status.st_uid, UInt32(status.st_mode) & 0o7777)
    }

    private static func make(_ path: String) throws(TokenError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw TokenError(.agentUnavailable, "cannot make \(path): \(String(cString: strerror(errno)))")
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw TokenError(.agentUnavailable, "cannot make \(path): \(String(cString: strerror(errno)))")
        }
    }
}
