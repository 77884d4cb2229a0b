internal import ADALCompat
internal import AgentClient
internal import CBenchSystem
internal import Foundation
internal import MSALCompat
internal import TokenModel
internal import TokenWire

/// A layer of the client at which requests for a cached token are measured.
protocol Level: Sendable {
    var name: String { get }
    /// Measures the duration of `count` requests.
    func sample(_ count: Int) async throws -> Sample
}

/// Writes and reads prepared bytes in C, without any other code. With its own server it is also the floor.
final class FramedLevel: Level {
    let name: String
    private let socket: Int32
    private let request: [UInt8]

    init(name: String, socketPath: String, request: [UInt8]) throws {
        self.name = name
        self.request = request
        socket = bench_connect(socketPath)
        guard socket >= 0 else { throw BenchError("cannot connect to \(socketPath) (errno \(-socket))") }
    }

    deinit { close(socket) }

    func sample(_ count: Int) throws -> Sample {
        var nanoseconds = [UInt64](repeating: 0, count: count)
        let code = bench_ping(socket, request, request.count, &nanoseconds, count)
        guard code == 0 else { throw BenchError("\(name): the server hung up (errno \(code))") }
        return Sample(nanoseconds)
    }
}

/// Does the same on a connection for each request.
struct ConnectingLevel: Level {
    let name: String
    let socketPath: String
    let request: [UInt8]
    /// Whether a reply is one frame; else it is what comes until the server closes the connection.
    var isFramed = true

    func sample(_ count: Int) throws -> Sample {
        var nanoseconds = [UInt64](repeating: 0, count: count)
        let code = bench_ping_connecting(
            socketPath, request, request.count, isFramed ? 1 : 0, &nanoseconds, count)
        guard code == 0 else { throw BenchError("\(name): no reply (errno \(code))") }
        return Sample(nanoseconds)
    }
}

/// The async method of `AgentClient`.
struct ClientLevel: Level {
    let name: String
    private let client: AgentClient

    /// - Parameter keepsResults: whether repeated requests are answered in the app, instead of by the agent.
    init(socketPath: String, keepsResults: Bool = false) {
        client = AgentClient(socketPath: socketPath, appName: "agent-bench", keepsResults: keepsResults)
        name = keepsResults ? "AgentClient, kept" : "AgentClient"
    }

    @concurrent func sample(_ count: Int) async throws -> Sample {
        let request = try SignedInAccount.request
        var nanoseconds: [UInt64] = []
        nanoseconds.reserveCapacity(count)
        for _ in 0..<count {
            let start = bench_now()
            _ = try await client.acquireTokenSilent(request)
            nanoseconds.append(bench_now() - start)
        }
        return Sample(nanoseconds)
    }
}

/// The async method of MSAL.
struct MSALLevel: Level {
    let name: String
    private let client: AgentClient

    init(socketPath: String, keepsResults: Bool = false) {
        client = AgentClient(socketPath: socketPath, appName: "agent-bench", keepsResults: keepsResults)
        name = keepsResults ? "MSALCompat, kept" : "MSALCompat"
    }

    @concurrent func sample(_ count: Int) async throws -> Sample {
        let request = try SignedInAccount.request
        let configuration = MSALPublicClientApplicationConfig(clientId: request.parameters.clientID.text)
        configuration.authority = try MSALAuthority(url: try url(request.parameters.authority))
        let application = try MSALPublicClientApplication(configuration: configuration, client: client)
        guard let account = try application.allAccounts().first else { throw BenchError("MSAL lists no account") }
        let parameters = MSALSilentTokenParameters(scopes: request.parameters.scopes.scopes, account: account)
        var nanoseconds: [UInt64] = []
        nanoseconds.reserveCapacity(count)
        for _ in 0..<count {
            let start = bench_now()
            _ = try await application.acquireTokenSilent(with: parameters)
            nanoseconds.append(bench_now() - start)
        }
        return Sample(nanoseconds)
    }

    private func url(_ authority: Authority) throws -> URL {
        guard let url = URL(string: authority.url) else { throw BenchError("\(authority) is not a URL") }
        return url
    }
}

/// The async method of ADAL.
struct ADALLevel: Level {
    let name: String
    private let client: AgentClient

    init(socketPath: String, keepsResults: Bool) {
        client = AgentClient(socketPath: socketPath, appName: "agent-bench", keepsResults: keepsResults)
        name = keepsResults ? "ADALCompat, kept" : "ADALCompat"
    }

    @concurrent func sample(_ count: Int) async throws -> Sample {
        let request = try SignedInAccount.adalRequest
        let authority = request.parameters.authority.url
        guard let context = ADAuthenticationContext(authority: authority, validateAuthority: true, error: nil),
            let resource = request.parameters.scopes.resource, let user = request.account.username,
            let redirect = URL(string: "http://localhost")
        else { throw BenchError("ADAL refuses \(authority)") }
        context.agent = client
        var nanoseconds: [UInt64] = []
        nanoseconds.reserveCapacity(count)
        for _ in 0..<count {
            let start = bench_now()
            let result = await context.acquireTokenSilent(
                withResource: resource, clientId: request.parameters.clientID.text, redirectUri: redirect, userId: user)
            nanoseconds.append(bench_now() - start)
            guard result.accessToken != nil else {
                throw BenchError("ADAL has no token: \(String(describing: result.error))")
            }
        }
        return Sample(nanoseconds)
    }
}

/// The frame of a silent request, and the length of its reply, with which the floor's server answers.
struct Frames: Sendable {
    let request: [UInt8]
    let replyLength: Int

    /// Sends the request once, and checks that it is a cache hit.
    ///
    /// - Parameter waitsForLoad: whether the agent is asked when it has read its whole store, so that the account's tokens are in memory
    ///   afterwards.
    init(askedAt socketPath: String, waitsForLoad: Bool = false) throws {
        request = try RequestFrame.encode(try SignedInAccount.request, id: 1)
        let socket = bench_connect(socketPath)
        guard socket >= 0 else { throw BenchError("cannot connect to \(socketPath) (errno \(-socket))") }
        defer { close(socket) }
        var reply = [UInt8](repeating: 0, count: WireLimits.replyFrame)
        if waitsForLoad {
            let list = try RequestFrame.encode(ListAccounts(clientID: nil), id: 1)
            guard bench_ask(socket, list, list.count, &reply, reply.count) > 0 else { throw BenchError("no list") }
        }
        replyLength = bench_ask(socket, request, request.count, &reply, reply.count)
        guard replyLength > FrameDecoder.headerLength else { throw BenchError("no reply (errno \(-replyLength))") }
        let frame = try ReplyFrame(decoding: reply[FrameDecoder.headerLength..<replyLength])
        guard try frame.reply(to: AcquireTokenSilent.self).isFromCache else {
            throw BenchError("the agent does not answer from its cache")
        }
    }
}

extension Frames {
    /// Measures requests that differ in a field that no agent knows, so that each is new to the agent.
    func sampleNew(_ count: Int, at socketPath: String) throws -> Sample {
        let socket = bench_connect(socketPath)
        guard socket >= 0 else { throw BenchError("cannot connect to \(socketPath) (errno \(-socket))") }
        defer { close(socket) }
        var reply = [UInt8](repeating: 0, count: WireLimits.replyFrame)
        var nanoseconds: [UInt64] = []
        nanoseconds.reserveCapacity(count)
        for number in 0..<count {
            let frame = try new(number)
            let start = bench_now()
            let length = bench_ask(socket, frame, frame.count, &reply, reply.count)
            nanoseconds.append(bench_now() - start)
            guard length > replyLength / 2 else { throw BenchError("no reply to a new request (errno \(-length))") }
        }
        return Sample(nanoseconds)
    }

    /// The frame with a further field in its request, whose value is `number`.
    private func new(_ number: Int) throws -> [UInt8] {
        // Length, ID, and the tag of the request; then its length and its fields.
        let prefix = FrameDecoder.headerLength + 3
        guard let lengthEnd = request[prefix...].firstIndex(where: { $0 < 0x80 }) else {
            throw BenchError("the request is not a frame")
        }
        let body = request[(lengthEnd + 1)...] + Self.varint(Self.unknownField << 3) + Self.varint(number)
        let message = request[FrameDecoder.headerLength..<prefix] + Self.varint(body.count) + body
        let length = (0..<FrameDecoder.headerLength).reversed().map {
            UInt8(truncatingIfNeeded: message.count >> (8 * $0))
        }
        return length + message
    }

    private static func varint(_ number: Int) -> [UInt8] {
        number < 0x80 ? [UInt8(number)] : [UInt8(number & 0x7F) | 0x80] + varint(number >> 7)
    }

    private static let unknownField = 100
}
