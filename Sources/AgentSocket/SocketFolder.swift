internal import PosixFiles
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The socket whose folder is checked, for the remedy of an error.
package enum SocketSetting: Sendable {
    case agent
    case metrics

    /// How to name another folder.
    fileprivate func remedy(for folder: String) -> String {
        switch self {
        // The socket is below the store if the session has no folder of its own.
        case .agent where folder.hasPrefix(AgentEnvironment.current.stateDirectory + "/"):
            "set SSO_AGENT_STATE_DIR to a folder of yours"
        case .agent: "set SSO_AGENT_SOCK to a socket in a folder of yours"
        case .metrics: "name a socket in a folder of yours with metrics.socket or --metrics-socket"
        }
    }
}

/// The directory of the socket: it belongs to the user of the agent, and other users may neither write to it nor replace it.
package struct SocketFolder: Sendable {
    package let path: String

    /// Makes the directory and those above it, with mode 0700, where they do not exist.
    ///
    /// - Throws: `agentUnavailable` (-53004), with what to do, if it cannot be made or other users could replace the socket.
    package init(ofSocket socketPath: String, _ setting: SocketSetting = .agent) throws(TokenError) {
        guard socketPath.utf8.first == UInt8(ascii: "/") else {
            throw TokenError(.agentUnavailable, "the socket path \(socketPath) is not absolute")
        }
        path = PrivateFiles.parent(of: socketPath)
        try Self.requireTrusted(path, setting)
        try PrivateFiles(errorCode: .agentUnavailable).makeDirectory(
            path, parentMode: 0o700, alternative: setting.remedy(for: path))
        // Again, with the directories that did not exist before: in /tmp, another user may have made one meanwhile.
        try Self.requireTrusted(path, setting)
        try Self.requirePrivate(path, FileStatus(path, followsLinks: false), setting)
    }

    /// Checks the path of a socket and its directory without making anything.
    ///
    /// - Throws: `agentUnavailable` (-53004), with what to do, if the agent could not use them.
    package static func requireUsable(ofSocket socketPath: String, _ setting: SocketSetting) throws(TokenError) {
        guard (try? UnixSocket.withAddress(of: socketPath) { _, _ in }) != nil else {
            throw TokenError(.agentUnavailable, "the path is too long for a socket; name a shorter one")
        }
        if let status = FileStatus(socketPath, followsLinks: false), status.kind != .socket {
            throw TokenError(
                .agentUnavailable, "it exists and is not a socket; move it elsewhere, or name another path")
        }
        let path = PrivateFiles.parent(of: socketPath)
        try requireTrusted(path, setting)
        if let status = FileStatus(path, followsLinks: false) { return try requirePrivate(path, status, setting) }
        var parent = path
        while FileStatus(parent) == nil, parent != "/" { parent = PrivateFiles.parent(of: parent) }
        guard access(parent, W_OK | X_OK) != 0 else { return }
        throw TokenError(
            .agentUnavailable, "cannot make \(path): \(parent): \(SystemError.last); \(setting.remedy(for: path))")
    }

    private static func requirePrivate(
        _ path: String, _ status: FileStatus?, _ setting: SocketSetting
    ) throws(TokenError) {
        // A symbolic link is refused: it could lead elsewhere later.
        guard let status, status.kind == .directory else {
            throw TokenError(
                .agentUnavailable, "\(path) is not a folder; move it elsewhere, or \(setting.remedy(for: path))")
        }
        guard status.isOwn else {
            throw TokenError(.agentUnavailable, "\(path) belongs to user \(status.owner); \(setting.remedy(for: path))")
        }
        guard !status.isWritableByOthers else {
            // A sticky folder, such as /tmp, is meant for all users.
            guard !status.isSticky else {
                throw TokenError(.agentUnavailable, "\(path) is a folder for all users; \(setting.remedy(for: path))")
            }
            throw TokenError(
                .agentUnavailable,
                "others may write to \(path) and could replace the socket", .run("chmod 0700 \(path.shellWord)"))
        }
    }

    /// Whether two absolute paths are those of one socket, however they are written if its directory exists.
    package static func isSameSocket(_ path: String, _ other: String) -> Bool {
        guard name(of: path).hasSameBytes(as: name(of: other)) else { return false }
        let (folder, otherFolder) = (PrivateFiles.parent(of: path), PrivateFiles.parent(of: other))
        return folder.hasSameBytes(as: otherFolder) || FileStatus.isSameFile(folder, otherFolder)
    }

    /// The socket's name in its directory.
    private static func name(of socketPath: String) -> String {
        let bytes = socketPath.utf8
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return socketPath }
        return String(socketPath[bytes.index(after: slash)...])
    }

    private static func requireTrusted(_ path: String, _ setting: SocketSetting) throws(TokenError) {
        guard let defect = TrustedPath.defect(ofDirectoriesAbove: path) else { return }
        let other = defect.remedy == nil ? ", or \(setting.remedy(for: path))" : ""
        throw TokenError(
            .agentUnavailable, "the socket's folder \(path) is not safe: \(defect.statement)\(other)", defect.remedy)
    }
}

/// The folder of a published socket: it belongs to the user, and nobody else may write to it.
package enum PublishedSocketFolder {
    /// The reason why no socket can be published in a folder, with the remedy; nil if the folder can be used, as far as this process
    /// can see it.
    package static func defect(ofSocket path: String) -> Problem? {
        let folder = PrivateFiles.parent(of: path)
        guard let status = FileStatus(folder) else {
            let isMissing = (try? FileStatus.exists(folder)) == false
            guard isMissing else { return nil }
            return Problem("the folder \(folder) does not exist", .run("mkdir -p -m 711 \(folder.shellWord)"))
        }
        guard status.kind == .directory else { return Problem("\(folder) is not a folder") }
        // A sticky folder, such as /tmp, is meant for all users.
        guard status.isOwn, !(status.isSticky && status.isWritableByOthers) else {
            return Problem(
                "\(folder) is not yours alone; make a folder, and publish the socket there",
                .run("mkdir -p -m 711 ~/.sso-sockets"))
        }
        guard !status.isWritableByOthers else {
            return Problem("other users may write to \(folder)", .run("chmod go-w \(folder.shellWord)"))
        }
        return nil
    }
}
