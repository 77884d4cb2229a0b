internal import CAgentSystem
package import TokenModel

/// The process at the other end of a socket, by the kernel's word.
package struct PeerCredentials: Sendable, Equatable {
    /// Its process id when it connected; nil where the system does not tell. Good for a log, not for a decision: ids are reused.
    package var processID: Int32?
    /// Its effective user.
    package var userID: UInt32
    /// Its effective group.
    package var groupID: UInt32

    package init(processID: Int32?, userID: UInt32, groupID: UInt32) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
    }

    /// Asks the kernel about a connected socket.
    ///
    /// - Throws: `peerNotAuthorized` (-53005) when the kernel does not say.
    package init(ofSocket socket: Int32) throws(TokenError) {
        var credentials = agent_peer_credentials()
        let code = agent_get_peer_credentials(socket, &credentials)
        guard code == 0 else { throw TokenError(.peerNotAuthorized, "the other end is unknown (errno \(code))") }
        self.init(
            processID: credentials.pid > 0 ? credentials.pid : nil, userID: credentials.uid, groupID: credentials.gid)
    }
}
