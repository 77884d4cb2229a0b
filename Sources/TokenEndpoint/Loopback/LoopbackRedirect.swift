package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
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
/// It listens on 127.0.0.1 and, if the system has it, on ::1, and on no other interface. It serves one sign-in.
package final class LoopbackRedirect: Sendable {
    /// The value of the parameter `redirect_uri`.
    package let redirectURI: String
    private let listeners: [any Channel]
    private let inbox: LoopbackInbox

    private init(redirectURI: String, listeners: [any Channel], inbox: LoopbackInbox) {
        self.redirectURI = redirectURI
        self.listeners = listeners
        self.inbox = inbox
    }

    /// Starts to listen.
    ///
    /// - Parameters: - redirectURI: the app's redirect URI. An `http` URI on this machine is used, with its port or else a
    ///   free one; anything else, and nil, is replaced by `http://localhost` with a free port. - state: the `state` of the
    ///   request; a response with another one is rejected. - timeout: the time in which a browser that has connected has to
    ///   send its request.
    /// - Throws: `authorizationFailed` (-51440) if the port is in use.
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

    /// Waits for the redirect, and returns its URL. A posted form is appended as the query.
    ///
    /// - Throws: `cancelled` (-53007) if the task is cancelled, or `close` is called.
    package func response() async throws(TokenError) -> String {
        guard let query = await inbox.next() else {
            throw TokenError(.cancelled, "the sign-in was given up before the browser came back")
        }
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + query
    }

    /// Stops listening. A page that is being sent is completed.
    package func close() {
        inbox.close()
        for listener in listeners { listener.close(promise: nil) }
    }

    /// Listens on both addresses with the same port, since a browser may resolve `localhost` to either.
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
                // Another process listens on the port of the other address, and might receive the redirect: another port is
                // tried.
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
                    guard inbox.acceptConnection() else { throw ChannelError.inputClosed }
                    channel.closeFuture.whenComplete { _ in inbox.connectionClosed() }
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

    /// The addresses to bind; binding the first must succeed.
    var addresses: [String] { host.contains(":") ? ["::1", "127.0.0.1"] : ["127.0.0.1", "::1"] }

    func uri(port: Int) -> String {
        let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "http://\(host):\(port)\(rest)"
    }
}
