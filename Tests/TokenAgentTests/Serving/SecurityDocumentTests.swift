internal import AccessPolicy
internal import Foundation
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// SECURITY.md has the limits of an agent that is started without options. Other tests set smaller ones.
@Suite(.bounded) struct SecurityDocumentTests {
    /// The text, with a blank in the place of each end of a line.
    private let text: String

    init() throws {
        let page = try String(contentsOfFile: PackageFolder.path("SECURITY.md"), encoding: .utf8)
        text = page.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    }

    private static func number(_ value: Int) -> String {
        value < 1000 ? "\(value)" : "\(value / 1000),\("\(1000 + value % 1000)".dropFirst())"
    }

    private static func size(_ bytes: Int) -> String {
        bytes.isMultiple(of: 1 << 20) ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
    }

    @Test func hasTheLimitsOfEachPeer() {
        let (process, user) = (PeerLimits(), PeerLimits().published)
        for (subject, first, second) in [
            ("connections", Self.number(process.connections), Self.number(user.connections)),
            ("requests in progress", Self.number(process.requests), Self.number(user.requests)),
            ("the frames of these requests", Self.size(process.requestBytes), Self.size(user.requestBytes)),
            ("replies that it has not read", Self.size(process.replyBytes), Self.size(user.replyBytes)),
        ] {
            let row = "| \(subject) | \(first) | \(second) |"
            #expect(text.contains(row), "there is no row \(row)")
        }
        #expect(text.contains("or \(Self.size(process.waitingBytes)) of one whose sending side is closed"))
        #expect(process.turn == .microseconds(100) && text.contains("turns of at most a tenth of a millisecond"))
    }

    @Test func hasTheLimitsOfAllPeers() throws {
        let options = AgentOptions(
            socketPath: "/agent.sock", stateDirectory: "/state", allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()), now: { 0 },
            logger: LogCollector.Messages().logger())
        #expect(text.contains("All peers together have \(Self.number(options.connectionLimit)) connections"))
        #expect(options.importReadingTime == .seconds(120) && text.contains("not been read within two minutes"))
        #expect(options.importSavingTime == .seconds(30) && text.contains("not saved within 30 seconds"))
    }

    @Test func hasTheLimitsOfTheStoreAndOfTheLogs() {
        #expect(text.contains("A database grows to \(StoreLimits.size >> 30) GiB at most"))
        #expect(text.contains("an app that has \(StoreRoom.accountsOfAnApp) accounts signs in no other"))
        #expect(text.contains("of failures, \(MessageLimit.messages) in a minute for each socket"))
        let (ofPeer, ofAll) = (FailureLimit.eventsPerMinute, FailureLimit.eventsOfAll)
        #expect(text.contains("\(ofPeer) of a peer in a minute have lines, \(ofAll) of all"))
    }
}
