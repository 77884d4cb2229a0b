internal import AgentSocket
internal import Foundation

/// A socket that listens, and whose queue of connections is full. Every user may connect to it.
package final class BusySocket {
    private let descriptors: [Int32]

    package init(at path: String) throws {
        let listener = try UnixSocket.make()
        var descriptors = [listener]
        let isBound = try UnixSocket.withAddress(of: path) { bind(listener, $0, $1) == 0 }
        chmod(path, 0o666)
        guard isBound, listen(listener, 0) == 0 else { throw POSIXError(.EADDRINUSE) }
        while case .connected(let descriptor) = try UnixSocket.connect(to: path) { descriptors.append(descriptor) }
        self.descriptors = descriptors
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}
