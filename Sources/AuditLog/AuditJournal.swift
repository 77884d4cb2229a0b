internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The audit log in the system's journal, over the native protocol of its socket: a datagram of fields for each line.
final class AuditJournal: AuditSink {
    private let socketPath: String
    /// Opened at the start, since a process that has restricted itself cannot open another socket. Negative if that has
    /// failed.
    private let descriptor: Int32
    /// The chain up to the last line that was written.
    private var chain = AuditChain()

    init(socket: String) {
        socketPath = socket
        descriptor = Self.makeSocket()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func append(_ events: [AuditEvent]) throws(AuditFailure) {
        var written = 0
        do throws(SystemError) {
            for event in events {
                var next = chain
                let line = String(decoding: next.append(event), as: UTF8.self)
                // The line is JSON, and so has no line end, which would need the protocol's binary form.
                let fields = [
                    "MESSAGE=\(line)", "PRIORITY=5", "SYSLOG_IDENTIFIER=sso-agent",
                    "SSO_AGENT_EVENT=\(event.kind.rawValue)",
                    "SSO_AGENT_SEQ=\(next.number)",
                ]
                try send(fields.joined(separator: "\n") + "\n")
                chain = next
                written += 1
            }
        } catch {
            throw AuditFailure(
                error: TokenError(
                    .storeUnavailable, "the journal \(socketPath) does not accept the audit log: \(error)"),
                written: written)
        }
    }

    private func send(_ text: String) throws(SystemError) {
        var address = sockaddr_un()
        guard socketPath.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SystemError(number: ENAMETOOLONG)
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
        let bytes = Array(text.utf8)
        let count = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(
                    descriptor, bytes, bytes.count, Self.noSignal, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard count == bytes.count else { throw .last }
    }

    #if os(Linux)
        private static let noSignal = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        private static func makeSocket() -> Int32 {
            socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
    #else
        private static let noSignal = Int32(MSG_DONTWAIT)
        private static func makeSocket() -> Int32 { socket(AF_UNIX, SOCK_DGRAM, 0) }
    #endif
}
