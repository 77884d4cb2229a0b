internal import Foundation
internal import TestSupport
internal import Testing

/// Every request of agent.proto has its codec, handler, method of the SDK, section in PROTOCOL.md and sample.
@Suite(.bounded) struct RequestTests {
    /// The names of the requests: those of the fields of `Request` in agent.proto.
    static let names: [String] = {
        let proto = PackageTree.text("Protos/agent.proto") ?? ""
        guard let envelope = proto.range(of: "message Request {"),
            let end = proto[envelope.upperBound...].range(of: "\n}")
        else { return [] }
        return proto[envelope.upperBound..<end.lowerBound].split(separator: "\n").compactMap { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.count >= 4 && words[2] == "=" && words[0] != "optional" ? String(words[1]) : nil
        }
    }()

    @Test func findsTheRequestsInTheGrammar() {
        #expect(Self.names.first == "hello")
        #expect(Self.names.count >= 11)
    }

    @Test(arguments: names)
    func hasACodec(name: String) {
        let files = PackageTree.swiftFiles("Sources/TokenWire")
        #expect(files.contains { Self.mentions("extension \(Self.type(name)): WireRequest", in: $0.text) })
    }

    @Test(arguments: names)
    func hasAHandlerInTheAgent(name: String) throws {
        let handlers = try #require(PackageTree.text("Sources/TokenAgent/Serving/RequestHandlers.swift"))
        #expect(handlers.contains("RequestHandler(\(Self.type(name)).self"))
    }

    @Test(arguments: names)
    func isKnownToTheAccessPolicy(name: String) throws {
        let policy = try #require(PackageTree.text("Sources/AccessPolicy/PolicyRule.swift"))
        #expect(policy.contains("\"\(name)\""))
    }

    @Test(arguments: names)
    func isSentByTheSDK(name: String) {
        let files = PackageTree.swiftFiles("Sources/AgentClient")
        #expect(files.contains { Self.mentions(Self.type(name), in: $0.text) })
    }

    @Test(arguments: names)
    func hasASectionInTheSpecification(name: String) throws {
        let text = try #require(PackageTree.text("Protos/PROTOCOL.md"))
        #expect(text.split(separator: "\n").contains("## \(name)"))
    }

    @Test func explainsEveryFieldInTheSpecification() throws {
        let proto = try #require(PackageTree.text("Protos/agent.proto"))
        let text = try #require(PackageTree.text("Protos/PROTOCOL.md"))
        for line in proto.split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 5, words[3] == "=", ["optional", "repeated"].contains(words[0]) else { continue }
            #expect(text.contains("`\(words[2])`"), "\(words[2])")
        }
    }

    @Test(arguments: names)
    func hasASampleOnTheWire(name: String) throws {
        let text = try #require(PackageTree.text("Tests/TokenWireTests/WireSamples.swift"))
        #expect(text.contains("\"\(name)\""))
    }

    /// `acquire_token_silent` → `AcquireTokenSilent`.
    static func type(_ name: String) -> String { name.split(separator: "_").map(\.capitalized).joined() }

    /// Whether `text` has `phrase`, and not only as the beginning of a longer word.
    static func mentions(_ phrase: String, in text: String) -> Bool {
        text.ranges(of: phrase).contains { range in
            text[range.upperBound...].first.map { !$0.isLetter && !$0.isNumber } ?? true
        }
    }
}
