internal import PosixFiles
internal import TestSupport
internal import Testing

@Suite(.bounded) struct StyledTextTests {
    private static let all = StyledText.Abilities(hasColours: true, hasControls: true)
    private static let none = StyledText.Abilities(hasColours: false, hasControls: false)

    @Test func addsColoursAndLinksWhereTheTerminalHasThem() {
        let text: StyledText = .bold("a") + "b" + .eraseLine + .link("https://x/y")
        #expect(text.rendered(Self.none) == "abhttps://x/y")
        #expect(
            text.rendered(Self.all)
                == "\u{1B}[1ma\u{1B}[0mb\r\u{1B}[K\u{1B}]8;;https://x/y\u{1B}\\https://x/y\u{1B}]8;;\u{1B}\\")
    }

    @Test(arguments: [
        ("aaaa bbbb cccc dddd eeee ffff", "aaaa bbbb cccc dddd\neeee ffff"),
        ("  aaaa bbbb cccc dddd eeee", "  aaaa bbbb cccc\n  dddd eeee"),
        ("ok   aaaa bbbb cccc dddd", "ok   aaaa bbbb cccc\n     dddd"),
        ("FAIL aaaa bbbb cccc dddd", "FAIL aaaa bbbb cccc\n     dddd"),
        ("aaaa\nbbbb cccc\n\n", "aaaa\nbbbb cccc\n\n"),
        // A wide character takes two columns.
        ("漢字漢字漢 漢字漢字 漢字", "漢字漢字漢 漢字漢字\n漢字"), ("漢字漢字漢字 漢字漢字", "漢字漢字漢字\n漢字漢字"),
        // A URL and a command stay whole.
        ("open https://login.example.com/a/b?c=d now", "open\nhttps://login.example.com/a/b?c=d\nnow"),
        ("no one\n  → ssoctl sign-in mail --login-hint a b", "no one\n  → ssoctl sign-in mail --login-hint a b"),
        ("  → start the agent: sso-agent --socket /x &", "  → start the agent:\n    sso-agent --socket /x &"),
        ("  → start it, which creates the folder", "  → start it, which\n    creates the\n    folder"),
        ("store locked  → ssoctl unlock", "store locked\n→ ssoctl unlock"),
        ("Sign in with: ssoctl sign-in --scope User.Read", "Sign in with:\nssoctl sign-in --scope User.Read"),
    ])
    func breaksLinesAtBlanks(text: String, expected: String) {
        #expect(StyledText(text).wrapped(columns: 20).rendered(Self.all) == expected)
        for columns in [nil, 200, 10] { #expect(StyledText(text).wrapped(columns: columns).rendered(Self.all) == text) }
        #expect(StyledText(text).fixed.wrapped(columns: 20).rendered(Self.all) == text)
    }

    @Test func breaksLinesOfStyledText() {
        let text: StyledText = .bold("aaaa bbbb") + " cccc " + .green("dddd") + " eeee\nnext " + .link("https://x/y")
        let wrapped = text.wrapped(columns: 20)
        #expect(wrapped.rendered(Self.none) == "aaaa bbbb cccc dddd\neeee\nnext https://x/y")
        #expect(wrapped.rendered(Self.all).hasPrefix("\u{1B}[1maaaa bbbb\u{1B}[0m cccc \u{1B}[32mdddd\u{1B}[0m\neeee"))
    }

    @Test func showsAURLOnOneLine() {
        #expect(StyledText.link("https://x/\n  → y").rendered(Self.all) == "https://x/   → y")
    }

    /// Whatever a name or a URL has, the terminal obeys only what the type adds.
    @Test(arguments: ["\u{1B}]0;x\u{7}", "a\u{9B}2J", "\r", "\u{202E}"])
    func neutralisesTheTextItself(text: String) {
        for styled in [StyledText(text), .green(text), .link("https://x/\(text)"), "\(text)"] {
            let rendered = styled.rendered(Self.all)
            #expect(!rendered.contains(text) && !rendered.contains("]8;;"))
            #expect(styled.rendered(Self.none) == TerminalText.neutralised(styled.rendered(Self.none)))
        }
    }
}
