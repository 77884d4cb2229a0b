/// Text made safe to stand in an HTML page, in an attribute too.
func htmlEscaped(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
        switch character {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        case "\"": escaped += "&quot;"
        default: escaped.append(character)
        }
    }
}
