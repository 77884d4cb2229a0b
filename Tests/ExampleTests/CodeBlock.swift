internal import Foundation
internal import TestSupport
internal import Testing

/// A block of code in a document, with what the document says about its test.
struct CodeBlock: Sendable, CustomTestStringConvertible {
    /// The path of the document.
    let document: String
    /// The number of the first line of the code.
    let line: Int
    let language: String
    let code: String
    /// Why the block is not tested: the comment `<!-- not run: … -->` or `<!-- not compiled: … -->` on the line before it.
    let exemption: String?
    /// Whether the reader begins a new shell for it: the comment `<!-- run: in a shell of its own -->`.
    let needsOwnShell: Bool

    var testDescription: String { "\(document):\(line)" }

    /// Every block of the documents, in their order.
    static let all: [CodeBlock] = Documents.all.flatMap { document -> [CodeBlock] in
        guard let data = FileManager.default.contents(atPath: PackageFolder.path(document)) else { return [] }
        return blocks(of: document, String(decoding: data, as: UTF8.self))
    }

    private static func blocks(of document: String, _ text: String) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var open: (line: Int, language: String, comment: String)?
        var (code, previous) = ("", "")
        for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
            if let block = open {
                if line == "```" {
                    blocks.append(
                        CodeBlock(
                            document: document, line: block.line, language: block.language, code: code,
                            exemption: block.comment.wholeMatch(of: #/<!-- not (?:run|compiled): (.+) -->/#)
                                .map { String($0.output.1) },
                            needsOwnShell: block.comment == "<!-- run: in a shell of its own -->"))
                    open = nil
                } else {
                    code += "\(line)\n"
                }
            } else if line.hasPrefix("```") {
                open = (number + 1, String(line.dropFirst(3)), previous)
                code = ""
            }
            previous = String(line)
        }
        return blocks
    }
}
