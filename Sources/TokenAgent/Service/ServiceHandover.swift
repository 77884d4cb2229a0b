package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What the service manager passes to the process that it has started: the socket to serve (sd_listen_fds(3)), and the
/// address for notifications of the process's state (sd_notify(3)).
package struct ServiceHandover: Sendable {
    /// The descriptor of the socket; nil if the process makes its own one.
    package let socket: Int32?
    /// Sends the notifications; nil if the service manager asks for none.
    package let notifier: ServiceNotifier?

    /// The number of the first descriptor that is handed over.
    private static let firstSocket: Int32 = 3
    private static let variables = [
        "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
    ]

    /// Receives what was handed over to this process, and removes the variables from its environment, so that no program that it starts
    /// reads them as its own. Must be called before any other thread reads the environment.
    ///
    /// - Throws: `agentUnavailable` (-53004) if there are several sockets.
    package static func receive() throws(TokenError) -> ServiceHandover {
        var values: [String: String] = [:]
        for name in variables {
            if let value = getenv(name) { values[name] = String(cString: value) }
            unsetenv(name)
        }
        let handover = try ServiceHandover(values, processID: getpid())
        if let socket = handover.socket { _ = fcntl(socket, F_SETFD, FD_CLOEXEC) }
        return handover
    }

    init(_ variables: [String: String], processID: Int32) throws(TokenError) {
        let own = "\(processID)"
        // Variables that were meant for a parent process, which has not removed them, are ignored.
        if variables["LISTEN_PID"] == own, let text = variables["LISTEN_FDS"], text != "0" {
            guard text == "1" else {
                throw TokenError(
                    .agentUnavailable,
                    "\(UntrustedText.clean(text, limit: 20)) sockets were handed over, and the agent serves one; list one "
                        + "ListenStream= in the socket unit")
            }
            socket = Self.firstSocket
        } else {
            socket = nil
        }
        let hasWatchdog = variables["WATCHDOG_PID"] == nil || variables["WATCHDOG_PID"] == own
        let watchdog = hasWatchdog ? variables["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0 : 0
        // An address at which no process listens was inherited from a process that has ended, and is ignored. A service
        // manager that waits for notifications logs that it got none.
        notifier = variables["NOTIFY_SOCKET"].flatMap {
            try? ServiceNotifier(address: $0, watchdog: watchdog > 0 ? watchdog : nil)
        }
    }
}
