package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Waits on this machine for the browser to come back from the authorization endpoint (RFC 8252 section 7.3).
///
/// It listens on 127.0.0.1 and, where the system has it, on ::1, and on no other interface. One sign-in each.
package final class LoopbackRedirect: Sendable {
    /// What to send as `redirect_uri`.
    package let redirectURI: String
    private let listeners: [any Channel]
    private let inbox: LoopbackInbox

    private init(redirectURI: String, listeners: [any Channel], inbox: LoopbackInbox) {
        self.redirectURI = redirectURI
        self.listeners = listeners
        self.inbox = inbox
    }

    /// Listens before the browser is opened.
    ///
    /// - Parameters:
    ///   - redirectURI: the app's own. An `http` URI on this machine is kept, with the port it names or else a free one;
    ///     for anything else, and for nil, `http://localhost` with a free port stands in.
    ///   - state: the request's; answers to anything else are turned away.
    ///   - timeout: how long a browser that has connected may take to send its request.
    /// - Throws: `authorizationFailed` when the port is taken.
    package static func listen(
        redirectURI: String?, state: String, on group: any EventLoopGroup, timeout: Duration = HTTPTiming().browser
    ) async throws(TokenError) -> LoopbackRedirect {
        let target = LoopbackTarget(redirectURI)
        let inbox = LoopbackInbox(path: target.path, state: state)
        do {
            let listeners = try await bind(target, inbox: inbox, on: group, timeout: TimeAmount(timeout))
            let port = listeners.first?.localAddress?.port ?? target.port ?? 80
            return LoopbackRedirect(redirectURI: target.uri(port: port), listeners: listeners, inbox: inbox)
        } catch {
            throw TokenError(
                .authorizationFailed,
                "cannot listen on \(target.port.map { "port \($0)" } ?? "a free port") of this machine for the "
                    + "browser to come back: \(error)")
        }
    }

    /// The URL that the browser came back to, query included; a posted form counts as the query.
    ///
    /// - Throws: `cancelled` when the task is, or after `close`.
    package func response() async throws(TokenError) -> String {
        guard let query = await inbox.next() else {
            throw TokenError(.cancelled, "the sign-in was given up before the browser came back")
        }
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + query
    }

    /// Stops listening; a page on its way to the browser still arrives.
    package func close() {
        inbox.close()
        for listener in listeners { listener.close(promise: nil) }
    }

    /// Both addresses on one port, so that it does not matter which of them `localhost` means to the browser.
    private static func bind(
        _ target: LoopbackTarget, inbox: LoopbackInbox, on group: any EventLoopGroup, timeout: TimeAmount
    ) async throws -> [any Channel] {
        let bootstrap = bootstrap(inbox, on: group, timeout: timeout)
        for attempt in 1... {
            let first = try await bootstrap.bind(host: target.addresses[0], port: target.port ?? 0).get()
            do {
                let second = try await bootstrap.bind(
                    host: target.addresses[1], port: first.localAddress?.port ?? 0
                ).get()
                return [first, second]
            } catch let error as IOError where error.errnoCode == EADDRINUSE && target.port == nil && attempt < 4 {
                // Another process has the port's other half and might get the browser: try another port.
                try await first.close()
            } catch {
                return [first]
            }
        }
        return []
    }

    private static func bootstrap(
        _ inbox: LoopbackInbox, on group: any EventLoopGroup, timeout: TimeAmount
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 16)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard inbox.admit() else { throw ChannelError.inputClosed }
                    channel.closeFuture.whenComplete { _ in inbox.leave() }
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
}
