internal import NIOCore
internal import Synchronization

/// The open connections of the metrics socket, whose number is limited.
///
/// Past the limit, the oldest connection is closed of the process with most of them: one that connects again and again, or says nothing,
/// takes no place that another process could have.
final class ScrapePlaces: Sendable {
    private let limit: Int
    /// The connections, the oldest first.
    private let open = Mutex<[(connection: ObjectIdentifier, identification: Identification)]>([])

    init(limit: Int) { self.limit = limit }

    /// Adds a connection until it is closed.
    ///
    /// - Parameter identification: that of the connection's peer, which closes the connection when it is abandoned.
    func add(_ channel: any Channel, _ identification: Identification) {
        let connection = ObjectIdentifier(channel)
        let crowded = open.withLock { open -> Identification? in
            open.append((connection, identification))
            guard open.count > limit else { return nil }
            var counts: [PeerKey: Int] = [:]
            for place in open { counts[place.identification.peer, default: 0] += 1 }
            let most = counts.values.max()
            guard let index = open.firstIndex(where: { counts[$0.identification.peer] == most }) else { return nil }
            return open.remove(at: index).identification
        }
        crowded?.abandon()
        channel.closeFuture.whenComplete { _ in
            self.open.withLock { $0.removeAll { $0.connection == connection } }
        }
    }
}
