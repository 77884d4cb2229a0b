package import AgentClient
internal import Synchronization
package import TokenModel

/// The archive of a sharing group's cache that apps of ADAL for macOS, and of MSAL with such a cache, keep themselves.
///
/// These apps pass their archive to the library before each use of the cache, and may not have written it since. An archive that equals
/// the last one read or written is not imported again, and no import adds an account that the app has signed out of, or that was signed out
/// everywhere, since that would undo the sign-out.
package final class ArchivedCache: Sendable {
    private struct State {
        var agent: AgentClient
        var group: SharingGroup
        /// The hash of all bytes of the last archive.
        var last: Int?
    }

    private let state: Mutex<State>

    package init(_ agent: AgentClient, _ group: SharingGroup) {
        state = Mutex(State(agent: agent, group: group))
    }

    /// Uses another agent or another sharing group from now on.
    package func move(to agent: AgentClient, _ group: SharingGroup) {
        state.withLock {
            guard $0.agent !== agent || $0.group != group else { return }
            $0 = State(agent: agent, group: group)
        }
    }

    /// Exports the cache of the group as an archive. Blocks the calling thread, as `deserialize(_:)` does.
    package func serialize() throws(TokenError) -> Secret {
        let (agent, group) = state.withLock { ($0.agent, $0.group) }
        let archive = try agent.exportCacheAndWait(.adalArchive, sharingGroup: group, includesSecrets: true)
        note(archive, of: agent, group)
        return archive
    }

    /// Imports an archive. No entry of the group is removed or replaced by an older one, and no sign-out is undone.
    ///
    /// - Throws: `cacheBadFormat` (-51201) if it is not an archive of ADAL's, or one of a later version.
    package func deserialize(_ archive: Secret) throws(TokenError) {
        let (agent, group, last) = state.withLock { ($0.agent, $0.group, $0.last) }
        guard archive.hashValue != last else { return }
        _ = try agent.importCacheAndWait(archive, format: .adalArchive, sharingGroup: group, keepsSignOuts: true)
        note(archive, of: agent, group)
    }

    /// Notes the last archive, unless another agent or group is used by now, which does not have its accounts.
    private func note(_ archive: Secret, of agent: AgentClient, _ group: SharingGroup) {
        state.withLock {
            guard $0.agent === agent, $0.group == group else { return }
            $0.last = archive.hashValue
        }
    }
}

extension TokenResult {
    /// Whether the request has changed the cache, so that the archive of an app is out of date.
    package var makesArchivesOutdated: Bool { !isFromCache || hasChangedCache }
}
