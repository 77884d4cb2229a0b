internal import AccessPolicy
internal import AgentSocket
internal import CAgentSystem
internal import NIOCore
internal import NIOPosix
internal import PosixFiles
internal import Synchronization
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Identifies peers when their connections are accepted, before a byte is read.
///
/// The reading is done on threads of its own: files of a peer's sandbox may be on a file system that the peer serves, and
/// never answer. A peer that has not been described in time counts as an unknown sandboxed app.
final class PeerInspector: Sendable {
    private let threads = NIOThreadPool(numberOfThreads: Int(PeerInspector.threadCount))
    /// Whether the threads have yet to be started. The first connection does it, not the start of the agent, which would wait for them
    /// (docs/decisions/0056-what-a-start-costs.md).
    private let needStart = Mutex(true)
    /// The work that waits for a thread; its argument is false if the threads have been stopped. Processes take turns,
    /// so that one that connects again and again delays others by one of its connections only.
    private let waiting = Mutex(RoundRobin<PeerKey, @Sendable (_ isActive: Bool) -> Void>())
    private let reader: PeerReader
    private let timers: Timers
    /// The reading of files of sandboxes. Only one thread does it, so that the other is there for the user's other processes.
    private let sandboxes = Mutex(SandboxReading())
    /// Whether `/proc` has the IDs of this process's PID namespace, as those of peers are. In that of another one, which an agent in a PID
    /// namespace of its own may see, an ID is another process's.
    private let seesProcesses: Bool
    /// The capabilities that this process could have at most when it was started.
    private let ownBounds: UInt64
    /// The map of user IDs of this process; nil if it cannot be read.
    private let ownUserMap: String?

    /// - Parameters:
    ///   - executables: the paths of programs that the policy names.
    ///   - helper: the process that reads what this one may not; nil if this one may.
    init(executables: Set<ExactText>, helper: HelperProcess?, timers: Timers) {
        reader = PeerReader(executables: executables, helper: helper)
        self.timers = timers
        var (status, userMap) = (ProcessStatus?.none, String?.none)
        if let own = try? ProcessFolder.own() { (status, userMap) = (own.status, own.userMap) }
        (seesProcesses, ownBounds) = (status?.namespaceDepth == 1, status?.capabilityBounds ?? 0)
        ownUserMap = userMap
    }

    /// Stops the threads without waiting for one that a peer's file system blocks.
    func stop() {
        needStart.withLock { $0 = false }
        threads.shutdownGracefully { _ in }
        while let work = sandboxes.withLock({ $0.next() }) { work(false) }
    }

    /// Identifies the peer of a connection.
    ///
    /// - Parameters:
    ///   - pidfd: the socket's `SO_PEERPIDFD`; negative if the kernel has none.
    ///   - identification: the place of the connection among those that wait. Those of different peers take turns.
    /// - Returns: nil if the process has ended, so that nothing is known about those that have its end of the connection, and if the
    ///   identification was abandoned. Fails with `agentUnavailable` (-53004) if no thread can be created.
    func identify(
        _ credentials: PeerCredentials, pidfd: Int32, for identification: Identification,
        on loop: any EventLoop
    ) -> EventLoopFuture<PeerIdentity?> {
        identification.hold(pidfd)
        guard startThreads() else {
            identification.end()
            return loop.makeFailedFuture(ThreadRoom.exhausted)
        }
        let promise = loop.makePromise(of: PeerIdentity?.self)
        let unknown = PeerIdentity(
            userID: credentials.userID, processID: credentials.processID, sandbox: PeerIdentity.Sandbox(app: nil))
        let timeout = timers.schedule(loop, Self.timeLimit) {
            promise.succeed(unknown)
            // What has not begun costs nothing any more, and keeps no descriptor: the threads may be blocked for long.
            identification.end()
            self.sandboxes.withLock { $0.timeIsOver(for: identification) }
        }
        let work: @Sendable (Bool) -> Void = { isActive in
            guard isActive else { return Self.stop(identification, promise) }
            guard let pidfd = identification.begin() else { return promise.succeed(nil) }
            var ofSandbox: Int32 = -1
            let peer = self.identify(credentials, pidfd: pidfd) { _, pidfd in
                ofSandbox = fcntl(pidfd.number, F_DUPFD_CLOEXEC, 0)
                return nil
            }
            guard let peer, ofSandbox >= 0 else { return promise.succeed(peer) }
            self.readFlatpak(of: peer, ofSandbox, for: identification, promise)
        }
        waiting.withLock { $0.append(work, of: identification.peer) }
        // Each thread that is free takes whatever is next.
        threads.submit { state in self.waiting.withLock { $0.popFirst() }?(state == .active) }
        promise.futureResult.whenComplete { _ in timeout.cancel() }
        return promise.futureResult
    }

    private static func stop(_ identification: Identification, _ promise: EventLoopPromise<PeerIdentity?>) {
        identification.end()
        promise.fail(TokenError(.agentUnavailable, "the agent is stopping"))
    }

    /// - Returns: false if the system has no room for the threads, without which SwiftNIO would end the process. A later connection tries
    ///   again.
    private func startThreads() -> Bool {
        needStart.withLock { needStart in
            guard needStart else { return true }
            guard (try? ThreadRoom.require(Self.threadCount)) != nil else { return false }
            threads.start()
            needStart = false
            return true
        }
    }

    private static let threadCount: Int32 = 2

    /// Reads the Flatpak app of a peer with another root directory on this thread, or on the one that reads those of other peers. The app
    /// stays unknown if that one waits for files that did not come in time.
    private func readFlatpak(
        of peer: PeerIdentity, _ pidfd: Int32, for identification: Identification,
        _ promise: EventLoopPromise<PeerIdentity?>
    ) {
        identification.hold(pidfd)
        let work: @Sendable (Bool) -> Void = { isActive in
            guard isActive else { return Self.stop(identification, promise) }
            guard let pidfd = identification.begin(), let processID = peer.processID,
                let process = try? PosixFiles.FileDescriptor(opened: pidfd)
            else { return promise.succeed(nil) }
            var peer = peer
            peer.sandbox = PeerIdentity.Sandbox(app: self.reader.flatpak(of: processID, process))
            promise.succeed(peer)
        }
        switch sandboxes.withLock({ $0.add(work, for: identification) }) {
        case .first: while let work = sandboxes.withLock({ $0.next() }) { work(true) }
        case .waiting: break
        case .none:
            identification.end()
            promise.succeed(peer)
        }
    }

    /// Identifies a peer, and blocks the calling thread meanwhile.
    func identify(_ credentials: PeerCredentials, pidfd: Int32) -> PeerIdentity? {
        identify(credentials, pidfd: pidfd) { processID, pidfd in reader.flatpak(of: processID, pidfd) }
    }

    /// Returns the Flatpak app of a process with another root directory.
    private typealias FlatpakReader = (_ processID: Int32, _ pidfd: borrowing PosixFiles.FileDescriptor) -> String?

    private func identify(
        _ credentials: PeerCredentials, pidfd: Int32, _ flatpak: FlatpakReader
    ) -> PeerIdentity? {
        #if os(Linux)
            var peer = PeerIdentity(userID: credentials.userID, processID: credentials.processID)
            guard let processID = credentials.processID, seesProcesses else {
                // The kernel reports no process ID of a process that this one cannot see, as when the agent itself is
                // in a container.
                if pidfd >= 0 { close(pidfd) }
                peer.sandbox = PeerIdentity.Sandbox(app: nil)
                return peer
            }
            let number = pidfd >= 0 ? pidfd : agent_open_pidfd(processID)
            guard let process = try? PosixFiles.FileDescriptor(opened: number),
                let folder = try? ProcessFolder(process, processID: processID)
            else { return nil }
            // Without SO_PEERPIDFD the process is the one that has the ID now. One of another user is not the peer.
            guard pidfd >= 0 || folder.userID == credentials.userID else { return nil }
            peer.startTime = folder.startTime
            peer.unit = folder.unit
            switch reader.facts(of: processID, process) {
            case .success(let facts):
                peer.executable = facts.executable
                peer.sandbox = sandbox(of: processID, process, folder, hasSameRoot: facts.hasSameRoot, flatpak)
            case .failure(let error):
                if error.number == ESRCH { return nil }
                peer.sandbox = PeerIdentity.Sandbox(app: nil)
            }
            return peer
        #else
            return PeerIdentity(userID: credentials.userID, processID: credentials.processID)
        #endif
    }

    /// The sandbox of a process: it has another root directory, or is in a PID namespace below this process's, or has the AppArmor
    /// profile of a Snap. A process that hides its root directory counts too if anything that it cannot hide is a container's.
    private func sandbox(
        of processID: Int32, _ pidfd: borrowing PosixFiles.FileDescriptor, _ folder: borrowing ProcessFolder,
        hasSameRoot: Bool?, _ flatpak: FlatpakReader
    ) -> PeerIdentity.Sandbox? {
        if let snap = folder.snap { return PeerIdentity.Sandbox(app: snap) }
        guard let status = folder.status else { return PeerIdentity.Sandbox(app: nil) }
        let isNested = status.namespaceDepth > 1
        switch hasSameRoot {
        case true?: return isNested ? PeerIdentity.Sandbox(app: nil) : nil
        case nil: return isNested || isConfined(status, folder) ? PeerIdentity.Sandbox(app: nil) : nil
        case false?: return PeerIdentity.Sandbox(app: flatpak(processID, pidfd))
        }
    }

    /// Whether a process that hides its root directory may be in a container. Sandboxes of the user's set `no_new_privs` or are in a user
    /// namespace, whose map of user IDs differs; a container that root has started lacks capabilities that this process can have.
    private func isConfined(_ status: ProcessStatus, _ folder: borrowing ProcessFolder) -> Bool {
        if status.hasNoNewPrivileges && isNoNewPrivilegesAMark || ownBounds & ~status.capabilityBounds != 0 {
            return true
        }
        guard let ownUserMap, let userMap = folder.userMap else { return true }
        return !ownUserMap.hasSameBytes(as: userMap)
    }

    /// Whether `no_new_privs` is a mark of a sandbox. It is none if process 1 has it, as in some containers: what it starts has it too.
    private var isNoNewPrivilegesAMark: Bool {
        // If this process is process 1, it has set that itself, which says nothing about the others.
        guard getpid() != 1, let first = try? ProcessFolder.first() else { return true }
        return first.status?.hasNoNewPrivileges != true
    }

    private static let timeLimit = TimeAmount.seconds(2)
}

/// The reading of files of sandboxes, one after the other: they may be on a file system that never answers. Peers take turns.
private struct SandboxReading {
    typealias Work = @Sendable (_ isActive: Bool) -> Void

    /// What becomes of work that is added.
    enum Place {
        /// The caller does it, and what is added meanwhile.
        case first
        case waiting
        /// It is not done: the work in progress was not done in time.
        case none
    }

    private var waiting = RoundRobin<PeerKey, (identification: Identification, work: Work)>()
    private var current: Identification?
    /// Whether the time of the current identification is over.
    private var isBlocked = false

    mutating func add(_ work: @escaping Work, for identification: Identification) -> Place {
        guard !isBlocked else { return .none }
        waiting.append((identification, work), of: identification.peer)
        guard current == nil else { return .waiting }
        current = identification
        return .first
    }

    /// Ends the current work, and begins the next one; nil if there is none.
    mutating func next() -> Work? {
        let next = waiting.popFirst()
        (current, isBlocked) = (next?.identification, false)
        return next?.work
    }

    mutating func timeIsOver(for identification: Identification) {
        if current === identification { isBlocked = true }
    }
}

/// The place of a connection among those that wait to be identified.
final class Identification: Sendable {
    private enum State {
        case waiting(pidfd: Int32)
        case begun
        case ended
        case abandoned
    }

    private let state = Mutex(State.waiting(pidfd: -1))
    let peer: PeerKey
    private let close: @Sendable () -> Void

    /// - Parameter close: closes the connection.
    init(of peer: PeerKey, _ close: @escaping @Sendable () -> Void) { (self.peer, self.close) = (peer, close) }

    /// Whether the connection was closed for a newer one.
    var isAbandoned: Bool {
        state.withLock { if case .abandoned = $0 { true } else { false } }
    }

    /// Closes the connection. What has not begun of its identification costs nothing any more.
    func abandon() {
        let pidfd = state.withLock { state -> Int32 in
            defer { state = .abandoned }
            if case .waiting(let pidfd) = state { return pidfd }
            return -1
        }
        if pidfd >= 0 { Self.closeFile(pidfd) }
        close()
    }

    /// Keeps a descriptor of the peer's process until the identification begins, or goes on, or ends.
    func hold(_ pidfd: Int32) {
        let isWaiting = state.withLock { state in
            switch state {
            case .ended, .abandoned: return false
            case .waiting, .begun:
                state = .waiting(pidfd: pidfd)
                return true
            }
        }
        if !isWaiting, pidfd >= 0 { Self.closeFile(pidfd) }
    }

    /// Begins the identification, or goes on with it, and returns the descriptor of the peer's process, which the caller closes; nil if the
    /// identification has ended, or has begun.
    func begin() -> Int32? {
        state.withLock { state in
            guard case .waiting(let pidfd) = state else { return nil }
            state = .begun
            return pidfd
        }
    }

    /// Ends the identification: what has not begun of it is not done any more, and its descriptor is closed.
    func end() {
        let pidfd = state.withLock { state -> Int32 in
            switch state {
            case .ended, .abandoned: return -1
            case .begun:
                state = .ended
                return -1
            case .waiting(let pidfd):
                state = .ended
                return pidfd
            }
        }
        if pidfd >= 0 { Self.closeFile(pidfd) }
    }

    private static func closeFile(_ descriptor: Int32) { _ = try? PosixFiles.FileDescriptor(opened: descriptor) }
}
