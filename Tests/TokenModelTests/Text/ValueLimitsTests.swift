internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct ValueLimitsTests {
    @Test(arguments: [
        "", "oid.tid", String(repeating: "x", count: 1024), "with space", "zażółć", "login.windows.net:8443", "😀",
    ])
    func takesIdentifiers(text: String) {
        #expect(ValueLimits.isIdentifier(text))
    }

    @Test(arguments: [
        String(repeating: "x", count: 1025), String(repeating: "é", count: 513), "a\0b", "a\nb", "a\u{7F}", "a\u{85}b",
        "a\u{202E}b", "a\u{2028}b",
        " a", "a ", "\u{3000}a",
    ])
    func refusesWhatCannotBeNamedInARequest(text: String) {
        #expect(!ValueLimits.isIdentifier(text))
    }

    @Test(arguments: [
        ("alice@contoso.com", "alice@contoso.com"), ("Alice\0", "Alice"), (" Alice\u{1B}[31m ", "Alice [31m"),
        ("a\u{202E}b", "a b"), ("\n", ""), ("zażółć", "zażółć"),
    ])
    func cleansNames(text: String, name: String) {
        #expect(ValueLimits.name(text) == name)
    }

    @Test(arguments: ["x", "é", "😀", "e\u{301}"])
    func cutsNamesBetweenCharacters(character: String) {
        let name = ValueLimits.name(String(repeating: character, count: 5000))
        #expect(name.utf8.count <= ValueLimits.text)
        #expect(name.utf8.count > ValueLimits.text - 8)
        #expect(ValueLimits.name(name) == name)
    }

    @Test func cutsMessagesAndKeepsTheirLines() {
        #expect(ValueLimits.message("one\ntwo\0") == "one\ntwo ")
        #expect(ValueLimits.message(String(repeating: "é", count: 3000)).utf8.count == 4096)
        #expect(ValueLimits.message("12345", limit: 3) == "123")
    }

    /// A text of a message may consist of several identifiers, and a token result has an ID token up to three times.
    @Test func leavesRoomForWhatIsMadeOfSeveralValues() {
        #expect("https://".utf8.count + 2 * ValueLimits.identifier < ValueLimits.text)
        #expect(ValueLimits.authority + ValueLimits.identifier < ValueLimits.text)
        #expect(3 * ValueLimits.idToken + ValueLimits.token + 2 * ValueLimits.longText < 1 << 20)
    }
}
