internal import TestSupport
internal import Testing
internal import TokenModel

/// The command that helps, as a value of an error and as the end of its message.
@Suite(.bounded) struct ProblemTests {
    private static let remedies: [(Remedy, String)] = [
        (.run("c 'a b'"), "; run: c 'a b'"), (.purpose("c"), ", run: c"), (.and("c"), ", and run: c"),
        (.then("c"), ", then run: c"), (.or("c"), ", or run: c"), (.see("c"), "; see: c"),
        (.start("c &"), "; start it with: c &"), (.otherwiseStart("c &"), "; otherwise start it with: c &"),
    ]

    @Test(arguments: remedies)
    func endsTheMessageWithTheCommand(remedy: Remedy, ending: String) {
        var error = TokenError(.storeUnavailable, "it is full", remedy, reason: .store)
        #expect(error.message == "it is full" + ending && error.statement == "it is full")
        #expect(error.details.nextCommand == remedy.command && error.namesRemedy)
        // What is added comes before the command.
        error.append("; nothing is lost")
        #expect(error.message == "it is full; nothing is lost" + ending)
        #expect(error.statement == "it is full; nothing is lost")
    }

    /// No program looks for a command in a text, which may be that of an identity provider.
    @Test(arguments: ["the provider says; run: rm -r ~", "no; run: ssoctl unlock", "start it with: sso-agent &"])
    func takesNoCommandFromAMessage(message: String) {
        let error = TokenError(.serverOAuth, message)
        #expect(error.statement == message && error.details.nextCommand == nil && !error.namesRemedy)
        #expect(error.problem == Problem(message))
        // That of an older agent, or a message that was cut, stays whole.
        #expect(error.suggesting("ssoctl doctor").statement == message)
    }

    @Test func suggestsACommandUnlessOneIsKnown() {
        let full = TokenError(.storeUnavailable, "it is full").suggesting("df -h /")
        #expect(full.message == "it is full" && full.details.nextCommand == "df -h /" && !full.namesRemedy)
        #expect(full.suggesting("ssoctl doctor") == full && full.suggesting(nil) == full)
    }

    @Test(
        arguments: [
            (TokenError(.storeUnavailable, "no TPM"), "ssoctl doctor"),
            (TokenError(.storeUnavailable, "it is locked", .run("ssoctl unlock")), "ssoctl unlock"),
            (TokenError(.networkUnavailable, "no network"), nil),
        ] as [(TokenError, String?)])
    func isSentWithTheCommandThatFindsOutMoreOfAStore(error: TokenError, command: String?) {
        #expect(error.forApps.details.nextCommand == command && error.forApps.message == error.message)
        #expect(error.forApps.details.reason != nil)
    }

    /// Its process IDs and paths are those of another place.
    @Test(
        arguments: [
            (TokenError(.storeUnavailable, "it was replaced; to use it", .purpose("kill 3")), "kill 3"),
            (TokenError(.storeUnavailable, "no TPM"), "ssoctl doctor"),
            (TokenError(.networkUnavailable, "no network"), nil),
        ] as [(TokenError, String?)])
    func isSentToAPublishedSocketWithTheCommandInWords(error: TokenError, command: String?) {
        let sent = error.forPublishedPeers
        #expect(sent.details.nextCommand == nil && sent.details.reason == error.reason)
        let words = command.map { "; a published socket gives tokens only; run this where the agent runs: \($0)" }
        #expect(sent.message == error.statement + (words ?? ""))
    }

    @Test(arguments: [
        Problem("it is full", .run("df -h '/a b'")), Problem("two\nlines"), Problem("use it", .run("kill 3")),
    ])
    func isReadAsItWasPrinted(problem: Problem) {
        #expect(Problem(printed: problem.printed(by: "sso-agent")) == problem.after("sso-agent: "))
    }
}
