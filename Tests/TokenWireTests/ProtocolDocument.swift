internal import Foundation
internal import TestSupport

/// The parts of PROTOCOL.md that can be checked: examples and tables.
struct ProtocolDocument {
    /// A fenced block of commented hexadecimal.
    struct Example {
        var heading: String
        /// `request` or `reply`.
        var kind: Substring
        /// Each comment, and the bytes up to the next one.
        var lines: [(bytes: [UInt8], comment: String)] = []
        var bytes: [UInt8] { lines.flatMap(\.bytes) }
    }

    private(set) var examples: [Example] = []
    /// The cells of each table row, by heading.
    private(set) var rows: [String: [[String]]] = [:]

    init() throws {
        let text = try String(contentsOfFile: PackageFolder.path("Protos/PROTOCOL.md"), encoding: .utf8)
        var heading = ""
        var example: Example?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let open = example, line == "```" {
                examples.append(open)
                example = nil
            } else if example != nil {
                example?.add(line)
            } else if line.hasPrefix("```hex ") {
                example = Example(heading: heading, kind: line.dropFirst(7))
            } else if line.hasPrefix("## ") {
                heading = String(line.dropFirst(3))
            } else if line.hasPrefix("| ") {
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                rows[heading, default: []].append(cells)
            }
        }
    }
}

extension ProtocolDocument.Example {
    fileprivate mutating func add(_ line: Substring) {
        let parts = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let bytes = [UInt8](hex: parts[0]) ?? []
        if parts.count > 1 {
            lines.append((bytes, parts[1].trimmingCharacters(in: .whitespaces)))
        } else if let last = lines.indices.last {
            lines[last].bytes += bytes
        }
    }
}
