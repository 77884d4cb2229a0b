internal import Foundation

/// The addresses of this machine by which programs reach each other. Many containers do not have the one of IPv6.
package enum LoopbackAddress {
    /// Whether a program can listen at `::1`.
    package static let hasIPv6: Bool = {
        #if os(Linux)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let listener = socket(AF_INET6, stream, 0)
        guard listener >= 0 else { return false }
        defer { close(listener) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        guard inet_pton(AF_INET6, "::1", &address.sin6_addr) == 1 else { return false }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }()

    /// The addresses that there are, for the arguments of a test.
    package static let all = hasIPv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"]
}
