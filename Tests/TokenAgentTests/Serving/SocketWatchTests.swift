internal import AccessPolicy
internal import AgentTestSupport
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// The socket of an agent that somebody else removes, as the end of a session removes the runtime folder.
@Suite(.bounded) struct SocketWatchTests {
    /// The options of an agent whose losses of its socket are put into the mailbox.
    private static func options(
        in folder: TemporaryFolder, at socketPath: String, _ losses: Mailbox<Void>
    ) throws -> AgentOptions {
        let clock = TestClock()
        var options = AgentOptions(
            socketPath: socketPath, stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: LogCollector.Messages().logger())
        options.onSocketLoss = { losses.put(()) }
        return options
    }

    /// The agent would keep the next one from opening the store.
    @Test(arguments: [false, true]) func tellsThatNoAppCanReachTheAgent(isReplaced: Bool) async throws {
        let (folder, losses) = (try TemporaryFolder(), Mailbox<Void>())
        let runtime = folder.file("runtime")
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var options = try Self.options(in: folder, at: runtime + "/agent.sock", losses)
        options.socketCheckInterval = .milliseconds(1)
        let server = try await AgentServer.start(options)
        if isReplaced {
            try Data().write(to: URL(fileURLWithPath: runtime + "/other"))
            try #require(rename(runtime + "/other", options.socketPath) == 0)
        } else {
            try FileManager.default.removeItem(atPath: runtime)
        }
        await losses.next()
        await server.stop()
        #expect(losses.count == 0)
        // The file of another agent would be lost.
        #expect(FileManager.default.fileExists(atPath: options.socketPath) == isReplaced)
    }

    /// SwiftNIO closes the listener after most errors of `accept`.
    @Test func tellsThatTheSocketAcceptsNoMoreConnections() async throws {
        let (folder, losses) = (try TemporaryFolder(), Mailbox<Void>())
        let options = try Self.options(in: folder, at: folder.file("agent.sock"), losses)
        let server = try await AgentServer.start(options)
        try await server.listener.close()
        await losses.next()
        await server.stop()
        #expect(losses.count == 0)
        #expect(!FileManager.default.fileExists(atPath: options.socketPath))
    }

    /// A home folder is mounted over that of an agent that was started before. The status has it, although nothing is written.
    @Test func reportsThatTheStoresPathLeadsElsewhere() async throws {
        let (folder, losses) = (try TemporaryFolder(), Mailbox<Void>())
        var options = try Self.options(in: folder, at: folder.file("agent.sock"), losses)
        options.socketCheckInterval = .milliseconds(1)
        let server = try await AgentServer.start(options)
        let peer = try await offPool { try RawPeer(folder.file("agent.sock")) }
        _ = try await peer.ask(ListAccounts(clientID: nil))
        #expect(try await peer.ask(GetStatus())?.storeProblem == nil)
        try FileManager.default.moveItem(atPath: options.stateDirectory, toPath: folder.file("elsewhere"))
        try FileManager.default.createDirectory(
            atPath: options.stateDirectory, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        var problem: String?
        while problem == nil { problem = try await peer.ask(GetStatus())?.storeProblem }
        #expect(problem?.contains("was removed or replaced by another program") == true)
        await server.stop(finishesReplies: false)
        #expect(losses.count == 0)
    }

    /// A socket of the service manager is not the agent's to watch, and what is checked besides is.
    @Test func checksWhatIsBesidesASocketOfTheServiceManager() async {
        let events = Mailbox<String>()
        let watch = SocketWatch.start(at: nil, every: .milliseconds(1), besides: { events.put("check") }) {
            events.put("loss")
        }
        for _ in 0..<2 { #expect(await events.next() == "check") }
        watch.end()
    }

    @Test func tellsOfNoLossWhenTheAgentStops() async throws {
        let (folder, losses) = (try TemporaryFolder(), Mailbox<Void>())
        let options = try Self.options(in: folder, at: folder.file("agent.sock"), losses)
        let server = try await AgentServer.start(options)
        await server.stop()
        #expect(losses.count == 0)
    }

    @Test func findsTheSocketAtItsPathOnly() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("socket")
        try Data().write(to: URL(fileURLWithPath: path))
        let socket = OwnSocket(at: path)
        #expect(socket.isInPlace)
        try FileManager.default.removeItem(atPath: path)
        #expect(!socket.isInPlace)
    }
}
