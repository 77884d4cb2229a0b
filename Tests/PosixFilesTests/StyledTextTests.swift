internal import PosixFiles
internal import TestSupport
internal import Testing

@Suite(.bounded) struct StyledTextTests {
    private static let all = StyledText.Abilities(colours: true, controls: true)
    private static let none = StyledText.Abilities(colours: false, controls: false)

    @Test func addsColoursAndLinksWhereTheTerminalHasThem() {
        let text: StyledText = .bold("a") + "b" + .eraseLine + .link("https://x/y")
        #expect(text.rendered(Self.none) == "abhttps://x/y")
        #expect(
            text.rendered(Self.all)
                == "\u{1B}[1ma\u{1B}[0mb\r\u{1B}[K\u{1B}]8;;https://x/y\u{1B}\\https://x/y\u{1B}]8;;\u{1B}\\")
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
