internal import AgentSocket
internal import PosixFiles
internal import Synchronization
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Tells the service manager that has started this process about its state, and that its event loop runs (sd_notify(3)).
package final class ServiceNotifier: Sendable {
    /// A state of the process, as the service manager names it.
    package enum State: Sendable, Equatable {
        /// Requests are served on the socket.
        case ready(socketPath: String)
        /// The configuration is read again; `ready` follows, also if it cannot be read.
        case reloading
        /// The process ends.
        case stopping
        /// The event loop has run the timer of the watchdog.
        case alive

        fileprivate var text: String {
            switch self {
            case .ready(let socketPath): "READY=1\nSTATUS=serving on \(UntrustedText.clean(socketPath, limit: 108))"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.microseconds)"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            }
        }

        /// The time of the monotonic clock. The manager compares it with the time at which it has asked, and so needs all digits.
        private static var microseconds: Int64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        }
    }

    /// How often the event loop reports that it runs, in microseconds: twice in the time after which the service manager ends the
    /// process. Nil if the service manager has no watchdog for it.
    package let watchdogInterval: Int64?
    /// Connected at the start, since a process that has restricted itself cannot open another socket.
    private let socket: PosixFiles.FileDescriptor
    private let isStopping = Atomic(false)

    /// - Parameters:
    ///   - address: the path of the manager's socket, or a name that begins with `@`.
    ///   - watchdog: the time after which the manager ends a process that does not report, in microseconds; nil for none.
    /// - Throws: `agentUnavailable` (-53004) if the socket cannot be connected to.
    package init(address: String, watchdog: Int64?) throws(TokenError) {
        do throws(SystemError) {
            socket = try PosixFiles.FileDescriptor(opened: UnixSocket.make(.datagram))
        } catch {
            throw TokenError(.agentUnavailable, "no socket for the service manager: \(error)")
        }
        watchdogInterval = watchdog.map { max($0 / 2, 1000) }
        let number = socket.number
        let code = try UnixSocket.withAddress(of: address) { pointer, length in
            // A name without a file begins with a zero byte.
            var bytes = Array(UnsafeRawBufferPointer(start: pointer, count: Int(length)))
            var length = length
            if address.hasPrefix("@"), let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) {
                bytes[start] = 0
                length = socklen_t(start + address.utf8.count)
            }
            return bytes.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { connect(number, $0.baseAddress, length) == 0 ? 0 : errno }
            }
        }
        guard code == 0 else {
            throw TokenError(
                .agentUnavailable, "the service manager's socket \(address): \(SystemError(number: code))")
        }
    }

    /// Sends a state, without waiting. If the service manager does not read its socket, the state is lost, and its
    /// watchdog ends the process. Nothing is sent after `stopping`.
    package func send(_ state: State) {
        let wasStopping =
            state == .stopping ? isStopping.exchange(true, ordering: .relaxed) : isStopping.load(ordering: .relaxed)
        guard !wasStopping else { return }
        let bytes = Array(state.text.utf8)
        _ = systemSend(socket.number, bytes, bytes.count, Self.flags)
    }

    #if os(Linux)
        private static let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    #else
        private static let flags = Int32(MSG_DONTWAIT)
    #endif
}

/// `send(2)`; the method above hides the function.
private func systemSend(_ socket: Int32, _ bytes: [UInt8], _ count: Int, _ flags: Int32) -> Int {
    send(socket, bytes, count, flags)
}
