internal import PosixFiles
package import TokenModel

/// The directory of the socket: it belongs to the user of the agent, and other users may neither write to it nor replace it.
package struct SocketFolder: Sendable {
    package let path: String
    /// The socket's name in the directory.
    private let socketName: String

    /// Makes the directory and those above it, with mode 0700, where they do not exist.
    ///
    /// - Throws: `agentUnavailable` (-53004), with what to do, if it cannot be made or other users could replace the socket.
    package init(ofSocket socketPath: String) throws(TokenError) {
        let bytes = socketPath.utf8
        guard bytes.first == UInt8(ascii: "/"), let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
            throw TokenError(.agentUnavailable, "the socket path \(socketPath) is not absolute")
        }
        path = PrivateFiles.parent(of: socketPath)
        socketName = String(socketPath[bytes.index(after: slash)...])
        try Self.requireTrusted(path)
        try PrivateFiles(errorCode: .agentUnavailable).makeDirectory(path, parentMode: 0o700)
        // Again, with the directories that did not exist before: in /tmp, another user may have made one meanwhile.
        try Self.requireTrusted(path)
        // A symbolic link is refused: it could lead elsewhere later.
        guard let status = FileStatus(path, followsLinks: false), status.kind == .directory else {
            throw TokenError(
                .agentUnavailable,
                "\(path) is not a folder; move it elsewhere, or set SSO_AGENT_SOCK to a folder of yours")
        }
        guard status.isOwn else {
            throw TokenError(
                .agentUnavailable, "\(path) belongs to user \(status.owner); set SSO_AGENT_SOCK to a folder of yours")
        }
        guard !status.isWritableByOthers else {
            throw TokenError(
                .agentUnavailable,
                "others may write to \(path) and could replace the socket; run: chmod 0700 \(path.shellWord)")
        }
    }

    /// Whether two paths, however they are written, are those of one socket.
    package func hasSocket(of other: SocketFolder) -> Bool {
        socketName.hasSameBytes(as: other.socketName) && FileStatus.isSameFile(path, other.path)
    }

    private static func requireTrusted(_ path: String) throws(TokenError) {
        guard let defect = TrustedPath.defect(ofDirectoriesAbove: path) else { return }
        let other = defect.contains("; run: ") ? "" : ", or set SSO_AGENT_SOCK to a folder of yours"
        throw TokenError(.agentUnavailable, "the socket's folder \(path) is not safe: \(defect)\(other)")
    }
}
