internal import ListenerSupport
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import PosixFiles
internal import Synchronization
package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A listener on this machine for the redirect of the authorization endpoint (RFC 8252 section 7.3).
///
/// It listens on 127.0.0.1 and, if the system has it, on ::1, and on no other interface. It serves one sign-in, and connections
/// of the agent's own user and of root only.
package final class LoopbackRedirect: Sendable {
    /// A connection that was refused because of its user.
    package enum Refusal: Sendable, Equatable {
        /// A process of another user has connected.
        case anotherUser(UInt32)
        /// The kernel does not report the user, or the peer has closed the connection at once.
        case unknownUser
    }

    /// The value of the parameter `redirect_uri`.
    package let redirectURI: String
    let listeners: [any Channel]
    private let inbox: LoopbackInbox
    private let isClosed = Mutex(false)

    private init(redirectURI: String, listeners: [any Channel], inbox: LoopbackInbox) {
        self.redirectURI = redirectURI
        self.listeners = listeners
        self.inbox = inbox
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - redirectURI: the app's redirect URI. An `http` URI on this machine is used, with its port or else a free one;
    ///     anything else, and nil, is replaced by `http://localhost` with a free port.
    ///   - state: the `state` of the request; a response with another one is rejected.
    ///   - userID: the user whose processes may connect.
    ///   - timeout: the time in which a browser that has connected has to send its request.
    ///   - onRefusal: called for the first connection that is refused for each reason, on the thread of the listener.
    /// - Throws: `authorizationFailed` (-51440) if the port is in use, or if the kernel does not report which user connects.
    package static func listen(
        redirectURI: String?, state: String, userID: UInt32,
        timeout: Duration = HTTPTiming().browser, onRefusal: @escaping @Sendable (Refusal) -> Void = { _ in }
    ) async throws(TokenError) -> LoopbackRedirect {
        try await listen(
            LoopbackTarget(redirectURI), LoopbackPeers(userID: userID, table: .system, onRefusal: onRefusal),
            state: state, timeout: timeout)
    }

    static func listen(
        _ target: LoopbackTarget, _ peers: LoopbackPeers, state: String, timeout: Duration
    ) async throws(TokenError) -> LoopbackRedirect {
        let inbox = LoopbackInbox(path: target.path, state: state)
        do {
            try LoopbackThread.requireDescriptors()
            // SwiftNIO ends a process that can create no thread for an event loop.
            guard (try? ThreadRoom.require(1)) != nil else { throw Self.noThread }
            let thread = LoopbackThread()
            defer { thread.release() }
            let listeners = try await bind(target, peers, inbox: inbox, on: thread, timeout: TimeAmount(timeout))
            let address = listeners.first?.localAddress
            let redirect = LoopbackRedirect(
                redirectURI: target.uri(port: address?.port ?? target.port ?? 80), listeners: listeners, inbox: inbox)
            guard let address, await peers.begin(listener: address) else {
                redirect.close()
                throw Self.unknownPeers
            }
            return redirect
        } catch let error as TokenError {
            throw error
        } catch {
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw TokenError(
                .authorizationFailed,
                "cannot listen on \(target.port.map { "port \($0)" } ?? "a free port") of this machine for the redirect of "
                    + "the browser (\(reason)); \(target.advice)")
        }
    }

    /// Waits for the redirect, and returns its URL. A posted form is its query.
    ///
    /// - Throws: `cancelled` (-53007) if the task is cancelled, or `close` is called.
    package func response() async throws(TokenError) -> String {
        guard let query = await inbox.next() else {
            throw TokenError(.cancelled, "the sign-in was cancelled before the browser was redirected")
        }
        // The query of a redirect has that of the redirect URI already (RFC 6749 section 3.1.2).
        return "\(redirectURI.prefix { $0 != "?" })?\(query)"
    }

    /// Makes the listener redirect to `page`, and returns the URL of the listener to open instead of it; nil if `page` cannot be in a header
    /// field.
    ///
    /// The URL of the sign-in page has the `state` of the request, and other users can see the arguments of a browser's
    /// process. The returned URL does not have it, and the listener answers no other user. It has the address of the
    /// listener instead of `localhost`, which has two addresses: another user's process might listen on the other one.
    package func launchURL(leadingTo page: String) -> String? {
        guard page.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let address = listeners.first?.localAddress,
            let host = address.ipAddress, let port = address.port
        else { return nil }
        let path = "/\(PKCE.randomText())"
        inbox.launch(page, at: path)
        return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)\(path)"
    }

    /// Stops listening. A page that is being sent is completed.
    package func close() {
        inbox.close()
        // The thread may have ended with the first call.
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        guard !wasClosed else { return }
        for listener in listeners { listener.close(promise: nil) }
    }

    /// Listens on both addresses with the same port, since a browser may resolve `localhost` to either.
    private static func bind(
        _ target: LoopbackTarget, _ peers: LoopbackPeers, inbox: LoopbackInbox, on thread: LoopbackThread,
        timeout: TimeAmount
    ) async throws -> [any Channel] {
        let bootstrap = bootstrap(inbox, peers, on: thread, timeout: timeout)
        for attempt in 1... {
            let first = try await bootstrap.bind(host: target.addresses[0], port: target.port ?? 0).get()
            do {
                let second = try await bootstrap.bind(
                    host: target.addresses[1], port: first.localAddress?.port ?? 0
                ).get()
                return [first, second]
            } catch let error as IOError where error.errnoCode == EADDRINUSE && target.namesBothAddresses {
                // Another process listens on the port of the other address, and might receive the redirect: another port is
                // tried, unless the app names one.
                try await first.close()
                guard target.port == nil, attempt < 4 else { throw error }
            } catch {
                return [first]
            }
        }
        return []
    }

    private static func bootstrap(
        _ inbox: LoopbackInbox, _ peers: LoopbackPeers, on thread: LoopbackThread, timeout: TimeAmount
    ) -> ServerBootstrap {
        ServerBootstrap(group: thread.group)
            .serverChannelInitializer { channel in
                thread.keep(until: channel.closeFuture)
                return channel.eventLoop.makeCompletedFuture { try AcceptPause.add(to: channel) }
            }
            .serverChannelOption(.backlog, value: 16)
            // Between two connections of another user, those of the browser have their turn.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                thread.keep(until: channel.closeFuture)
                // The user is checked before a byte is read, and before the connection counts.
                let admission = peers.admit(channel)
                thread.keep(until: admission)
                return admission.flatMapThrowing {
                    inbox.accept(channel)
                    var limits = NIOHTTPDecoderLimitConfiguration()
                    limits.maxHeaderFieldSize = LoopbackRequestHandler.sizeLimit
                    limits.maxHeaderListSize = LoopbackRequestHandler.sizeLimit
                    limits.maxHeaderFieldCount = 64
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(
                        withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
                    try pipeline.addHandler(LoopbackRequestHandler(inbox, timeout: timeout))
                }
            }
    }

    private static let noThread = TokenError(
        .authorizationFailed, "no thread can be created for the redirect of the browser; \(ThreadRoom.remedy)")
    private static let unknownPeers = TokenError(
        .authorizationFailed,
        "this system does not tell which user connects to the redirect URI, so that another user could answer the sign-in "
            + "(neither sock_diag nor /proc/net/tcp is available); sign in with a device code")
}

/// The redirect URI, before the port is known.
struct LoopbackTarget: Sendable {
    /// The host as in the redirect URI.
    let host: String
    /// The port of the app's redirect URI; nil for any free one.
    let port: Int?
    /// The path of the redirect.
    let path: String
    /// The path and the query as in the redirect URI; may be empty.
    private let rest: String

    /// The app's redirect URI if it leads to this machine; else `http://localhost`.
    init(_ redirectURI: String?) {
        guard let redirectURI, BrowserRedirect.isUsable(redirectURI), let uri = URLComponents(string: redirectURI),
            let host = uri.host
        else {
            self.init(host: "localhost", port: nil, path: "/", rest: "")
            return
        }
        let query = uri.percentEncodedQuery.map { "?" + $0 } ?? ""
        self.init(
            host: host, port: uri.port == 0 ? nil : uri.port,
            path: uri.percentEncodedPath.isEmpty ? "/" : uri.percentEncodedPath, rest: uri.percentEncodedPath + query)
    }

    private init(host: String, port: Int?, path: String, rest: String) {
        self.host = host
        self.port = port
        self.path = path
        self.rest = rest
    }

    /// What to do if another process has the port: `localhost` needs it at both addresses.
    var advice: String {
        let deviceCode = "sign in with a device code"
        if let port { return "end the program that listens on port \(port), or \(deviceCode)" }
        return namesBothAddresses ? "register the redirect URI http://127.0.0.1, or \(deviceCode)" : deviceCode
    }

    /// Whether a browser may resolve the host to either address.
    var namesBothAddresses: Bool { host.lowercased() == "localhost" }

    /// The addresses to bind; binding the first must succeed.
    var addresses: [String] { host.contains(":") ? ["::1", "127.0.0.1"] : ["127.0.0.1", "::1"] }

    func uri(port: Int) -> String {
        let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "http://\(host):\(port)\(rest)"
    }
}

/// The thread of the redirect listeners of one sign-in.
///
/// Every user of the machine can connect to a listener, again and again. On a thread of their own, these connections take no time of the
/// event loop that serves apps. The thread ends with the last listener and the last connection to one.
final class LoopbackThread: Sendable {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// The number of references: one of the creator of the thread, and one of each future that has not completed.
    private let references = Mutex(1)
    private let onEnd: @Sendable () -> Void

    /// Starts the thread. The caller calls `release`.
    ///
    /// - Parameter onEnd: called when the thread has ended.
    init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

    /// Checks, before a thread is started, that its event loop and its listeners can have the file descriptors that they need, and other
    /// threads some at the same time.
    ///
    /// - Throws: EMFILE or ENFILE if there are too many open files. SwiftNIO ends a process that has no descriptors left for an event loop.
    static func requireDescriptors() throws(SystemError) {
        var pairs: [SocketPair] = []
        defer {
            for pair in pairs {
                close(pair.first)
                close(pair.second)
            }
        }
        for _ in 0..<8 { pairs.append(try SocketPair()) }
    }

    /// Keeps the thread until a future of its event loop has completed. The caller has a reference.
    func keep(until future: EventLoopFuture<some Sendable>) {
        references.withLock { $0 += 1 }
        future.whenComplete { _ in self.release() }
    }

    /// Gives up a reference. The last one ends the thread.
    func release() {
        let isLast = references.withLock { references in
            references -= 1
            return references == 0
        }
        if isLast { group.end(onEnd) }
    }
}
