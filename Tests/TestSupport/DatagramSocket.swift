internal import Foundation

/// The types of sockets, as the parameters of `socket` and `socketpair`.
package enum SocketType {
    #if os(Linux)
        package static let stream = Int32(SOCK_STREAM.rawValue)
        package static let datagram = Int32(SOCK_DGRAM.rawValue)
    #else
        package static let stream = SOCK_STREAM
        package static let datagram = SOCK_DGRAM
    #endif
}

/// A datagram socket of a test, in place of the journal's.
package final class DatagramSocket {
    private let descriptor: Int32

    package init(at path: String) throws {
        descriptor = socket(AF_UNIX, SocketType.datagram, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard descriptor >= 0, code == 0 else { throw POSIXError(.EINVAL) }
    }

    deinit { close(descriptor) }

    /// Waits for a datagram.
    package func receive() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw POSIXError(.EIO) }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
