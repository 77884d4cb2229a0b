/// One `import` line.
struct ImportLine {
    var module: String
    /// `public`, `package`, `internal`, or nil when none is written.
    var level: String?
    /// Such as `@testable`.
    var attributes: [String]

    /// Nil when the line imports nothing.
    init?(_ line: Substring) {
        var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        attributes = Array(words.prefix { $0.hasPrefix("@") })
        words.removeFirst(attributes.count)
        if let first = words.first, ["public", "package", "internal", "fileprivate", "private"].contains(first) {
            level = words.removeFirst()
        }
        guard words.first == "import" else { return nil }
        words.removeFirst()
        let kinds = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        if let kind = words.first, kinds.contains(kind) { words.removeFirst() }
        guard let name = words.first else { return nil }
        module = name.split(separator: ".").first.map(String.init) ?? name
    }
}
