internal import Synchronization
package import TokenModel

/// A sharing group's cache as the archive that apps of ADAL for macOS, and of MSAL with such a cache, keep themselves.
///
/// Those apps hand their archive over before each use of the cache. One that was handed over or out last says nothing new:
/// it is not read again, so that an account that has signed out elsewhere meanwhile does not come back with it.
package final class ArchivedCache: Sendable {
    private struct State {
        var agent: AgentClient
        var group: SharingGroup
        /// The hash of the last archive; of all its bytes.
        var last: Int?
    }

    private let state: Mutex<State>

    package init(_ agent: AgentClient, _ group: SharingGroup) {
        state = Mutex(State(agent: agent, group: group))
    }

    /// From now on, another agent or another group.
    package func move(to agent: AgentClient, _ group: SharingGroup) {
        state.withLock {
            guard $0.agent !== agent || $0.group != group else { return }
            $0 = State(agent: agent, group: group)
        }
    }

    /// The group's cache as an archive. Blocks the calling thread, as `deserialize(_:)` does.
    package func serialize() throws(TokenError) -> Secret {
        let (agent, group) = state.withLock { ($0.agent, $0.group) }
        let archive = try agent.exportCacheAndWait(.adalArchive, sharingGroup: group, includesSecrets: true)
        state.withLock { $0.last = archive.hashValue }
        return archive
    }

    /// Takes in what an archive holds; nothing that the group has is removed, or gives way to something older.
    ///
    /// - Throws: `cacheBadFormat` (-51201) when it is no archive of ADAL's, or one of a later version.
    package func deserialize(_ archive: Secret) throws(TokenError) {
        let (agent, group, last) = state.withLock { ($0.agent, $0.group, $0.last) }
        guard archive.hashValue != last else { return }
        _ = try agent.importCacheAndWait(archive, format: .adalArchive, sharingGroup: group)
        state.withLock { $0.last = archive.hashValue }
    }
}
