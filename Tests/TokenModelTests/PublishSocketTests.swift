internal import TestSupport
internal import Testing

@testable internal import TokenModel

@Suite(.bounded) struct PublishSocketTests {
    /// Names that are too long, or have a line break: the message has both rules.
    @Test(arguments: [String(repeating: "a", count: ValueLimits.identifier + 1), "a\nb"])
    func namesTheRulesForNames(name: String) throws {
        let clientID = try #require(ClientID(name))
        var request = PublishSocket(path: "/srv/a.sock", clientIDs: [clientID])
        let ofApp = #expect(throws: TokenError.self) { try request.validate() }
        #expect(ofApp?.message.contains("a client ID has at most 1024 bytes, and no control characters") == true)
        request.clientIDs = [.commandLine]
        request.sharingGroup = try #require(SharingGroup(name))
        let ofGroup = #expect(throws: TokenError.self) { try request.validate() }
        #expect(ofGroup?.message.contains("name has at most 1024 bytes, and no control characters") == true)
    }
}
