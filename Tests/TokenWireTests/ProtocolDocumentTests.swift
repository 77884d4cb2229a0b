internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// PROTOCOL.md agrees with the code.
@Suite(.bounded) struct ProtocolDocumentTests {
    private let document: ProtocolDocument

    init() throws { document = try ProtocolDocument() }

    @Test func showsBytesThatAreWhatTheyAreSaidToBe() throws {
        let requests = try ProtocolExamples.requests()
        let replies = try ProtocolExamples.replies()
        for example in document.examples {
            var decoder = FrameDecoder(limit: WireLimits.requestFrame)
            example.bytes.withUnsafeBytes { decoder.append($0) }
            let frame = try #require(try decoder.next(), "\(example.heading)")
            #expect(!decoder.isInsideFrame)
            switch example.kind {
            case "request": #expect(try AnyRequest(decoding: frame) == requests[example.heading], "\(example.heading)")
            default: #expect(try AnyReply(decoding: frame) == replies[example.heading], "\(example.heading)")
            }
        }
        #expect(Set(document.examples.filter { $0.kind == "request" }.map(\.heading)) == Set(requests.keys))
        #expect(Set(document.examples.filter { $0.kind == "reply" }.map(\.heading)) == Set(replies.keys))
    }

    @Test func commentsBytesWithTheTextTheyHold() {
        for line in document.examples.flatMap(\.lines) {
            if let quote = line.comment.firstIndex(of: "\"") {
                let text = line.comment[quote...].dropFirst().dropLast()
                #expect(line.bytes.suffix(text.utf8.count).elementsEqual(text.utf8), "\(line.comment)")
            }
        }
    }

    @Test func listsEveryCode() {
        let listed = document.rows["Codes", default: []].dropFirst().filter { $0[0].hasPrefix("-5") }
        let expected = TokenError.Code.table.map { "\($0.number) `\($0.name)`" }
        #expect(listed.map { "\($0[0]) \($0[1])" }.sorted() == expected.sorted())
    }

    @Test func namesCodesByTheirOwnNumbers() throws {
        for cell in document.rows.values.joined().compactMap(\.first) {
            for code in cell.split(separator: ", ") where code.hasPrefix("-5") && code.hasSuffix("`") {
                let parts = code.split(separator: " ")
                #expect(try TokenError.Code(number: #require(Int32(parts[0]))).name == parts[1].dropFirst().dropLast())
            }
        }
    }

    @Test func statesTheLimits() {
        let stated = document.rows["Limits", default: []].dropFirst().map { $0.joined(separator: ": ") }
        #expect(
            stated.filter { !$0.hasPrefix("-") } == [
                "request frame, in bytes: \(WireLimits.requestFrame)",
                "reply frame, in bytes: \(WireLimits.replyFrame)",
                "items of a list: \(WireLimits.listItems)", "text, in bytes: \(WireLimits.text)",
                "long text, in bytes: \(WireLimits.longText)", "token, in bytes: \(WireLimits.token)",
            ])
    }
}
