internal import Foundation
internal import TestSupport

/// A connection to an emulator on which a test writes and reads when it wants to, as no HTTP client does.
final class RawConnection: Sendable {
    private let descriptor: Int32

    /// - Parameter url: of the emulator, with its port.
    init(to url: String) throws {
        #if os(Linux)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(URL(string: url)?.port ?? 0).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw POSIXError(.ECONNREFUSED)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Sends a request without a body, a number of times in a row.
    func get(_ path: String, times: Int = 1) async throws {
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await write(String(repeating: request, count: times))
    }

    /// Sends a text.
    func write(_ text: String) async throws {
        let bytes = Array(text.utf8)
        let descriptor = descriptor
        try await offPool {
            guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                throw POSIXError(.EPIPE)
            }
        }
    }

    /// Waits for bytes; empty at the end of the stream.
    func receive() async throws -> String {
        let descriptor = descriptor
        return try await offPool {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        }
    }
}
