internal import AgentClient
internal import ArgumentParser
internal import CBenchSystem
internal import EntraEmulator
internal import Foundation
internal import TokenModel
internal import TokenWire

/// What a peer does that wants as much of the agent's time as it can get. Runs in a process of its own, until that is stopped.
enum Attack: String, CaseIterable, ExpressibleByArgument {
    /// Pipelines 64 kB of requests for lists of accounts.
    case listAccounts = "list-accounts"
    /// Does the same, and never reads a reply.
    case unreadLists = "unread-lists"
    /// Asks for a token without naming one of many accounts.
    case noAccount = "no-account"
    /// Asks for tokens with 1,000 scopes, each of which needs the same refresh token.
    case scopes
    /// Imports a cache of 1,000 accounts again and again, each time with newer tokens.
    case imports
    /// Connects and closes the connection.
    case connections
    /// Begins a sign-in, and connects to its redirect without waiting for room; as another user, if the benchmark is root's.
    case redirect

    /// The number of accounts in the store of the agent that is attacked.
    static let accounts = 10_000

    /// Prints a line when the attack has begun.
    func run(socketPath: String) async throws {
        switch self {
        case .listAccounts: try pipeline(ListAccounts(clientID: nil, onlySignedIn: false), to: socketPath, reads: true)
        case .unreadLists: try pipeline(ListAccounts(clientID: nil, onlySignedIn: false), to: socketPath, reads: false)
        case .noAccount:
            var request = try SignedInAccount.request
            request.account = AccountReference()
            try pipeline(request, to: socketPath, reads: true)
        case .scopes: try await askForScopes(socketPath)
        case .imports: try await importCaches(socketPath)
        case .connections:
            Self.announce()
            while true {
                let socket = bench_connect(socketPath)
                guard socket >= 0 else { throw BenchError("cannot connect (errno \(-socket))") }
                close(socket)
            }
        case .redirect: try await connectToRedirect(socketPath)
        }
    }

    private func connectToRedirect(_ socketPath: String) async throws {
        let emulator = try await Emulator.start()
        let client = AgentClient(socketPath: socketPath, appName: "attack", timeout: .seconds(600))
        let begun = try await client.beginInteractive(
            BeginInteractive(parameters: try parameters(emulator, "User.Read")))
        guard let port = URL(string: begun.redirectURI)?.port.flatMap(UInt16.init) else {
            throw BenchError("\(begun.redirectURI) has no port")
        }
        // The sign-in lasts as long as its connection, which stays open.
        if geteuid() == 0, setuid(65_534) != 0 { throw BenchError("cannot become another user (errno \(errno))") }
        Self.announce()
        while true { _ = bench_touch_port(port) }
    }

    private func pipeline(_ request: some WireRequest, to socketPath: String, reads: Bool) throws {
        let frame = try RequestFrame.encode(request, id: 1)
        let frames = [UInt8]([[UInt8]](repeating: frame, count: max(64 * 1024 / frame.count, 1)).joined())
        let socket = bench_connect(socketPath)
        guard socket >= 0 else { throw BenchError("cannot connect (errno \(-socket))") }
        if reads { Thread.detachNewThread { Self.discardReplies(socket) } }
        Self.announce()
        while true {
            var rest = frames[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
                guard count > 0 else { throw BenchError("the agent closed the connection (errno \(errno))") }
                rest = rest.dropFirst(count)
            }
        }
    }

    private static func discardReplies(_ socket: Int32) {
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while read(socket, &buffer, buffer.count) > 0 {}
    }

    private func askForScopes(_ socketPath: String) async throws {
        let emulator = try await Emulator.start()
        let client = AgentClient(socketPath: socketPath, appName: "attack", timeout: .seconds(600))
        let signIn = try await client.signIn(
            BeginInteractive(parameters: try parameters(emulator, "User.Read"), loginHint: "alice@contoso.com"),
            presenter: SignInPresenter(method: .browser, browserCommands: ["curl -sSL -o /dev/null %s"]))
        Self.announce()
        while true {
            try await withThrowingTaskGroup { group in
                for number in 0..<1_000 {
                    let request = AcquireTokenSilent(
                        parameters: try parameters(emulator, "Scope.\(number)"), account: signIn.account.reference,
                        forceRefresh: true)
                    group.addTask { _ = try? await client.acquireTokenSilent(request) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func importCaches(_ socketPath: String) async throws {
        let client = AgentClient(socketPath: socketPath, appName: "attack", timeout: .seconds(600))
        // A time in the future would be ignored.
        let first = Int64(Date().timeIntervalSince1970) - 86_400
        Self.announce()
        for time in first... {
            _ = try await client.importCache(Secret(Self.cache(of: 1_000, at: time)), format: .msalJSON)
        }
    }

    /// A cache of MSAL, whose tokens were saved at a time.
    private static func cache(of count: Int, at time: Int64) -> String {
        func section(_ name: String, _ entry: (Int) -> String) -> String {
            "\"\(name)\":{\((0..<count).map { "\"\($0)\":{\(entry($0))}" }.joined(separator: ","))}"
        }
        func account(_ number: Int) -> String {
            let identifier = "imported-\(number).\(tenant)"
            return "\"home_account_id\":\"\(identifier)\",\"environment\":\"login.microsoftonline.com\""
        }
        let app = "\"client_id\":\"imported\""
        let accounts = section("Account") {
            "\(account($0)),\"realm\":\"\(tenant)\",\"local_account_id\":\"imported-\($0)\",\"authority_type\":\"MSSTS\","
                + "\"username\":\"imported-\($0)@contoso.com\""
        }
        let refreshTokens = section("RefreshToken") {
            "\(account($0)),\(app),\"credential_type\":\"RefreshToken\",\"last_modification_time\":\"\(time)\","
                + "\"secret\":\"\(time)-\(String(repeating: "r", count: 1_200))\""
        }
        return "{\(accounts),\(refreshTokens)}"
    }

    private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"

    private func parameters(_ emulator: Emulator, _ scope: String) throws -> TokenParameters {
        TokenParameters(
            clientID: try SignedInAccount.request.parameters.clientID,
            authority: try Authority("\(emulator.url)/common"),
            scopes: ScopeSet([scope]))
    }

    private static func announce() { FileHandle.standardError.write(Data("listening on nothing: an attack\n".utf8)) }
}
