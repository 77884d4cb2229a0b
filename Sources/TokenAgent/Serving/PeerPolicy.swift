package import AgentSocket

/// Which processes the agent serves, decided from the kernel's word alone, before a byte is read.
package struct PeerPolicy: Sendable, Equatable {
    /// The user whose agent this is.
    package var userID: UInt32

    package init(userID: UInt32) {
        self.userID = userID
    }

    /// The agent's own user, and nobody else: not even root, who could read its memory anyway but has no account here.
    package func admits(_ peer: PeerCredentials) -> Bool { peer.userID == userID }
}
