internal import TokenModel

/// A line of the log.
package struct AuditLine: Sendable {
    private let tree: JSONTree
    /// The number of the line, from 1 on.
    package let number: Int64

    /// Returns nil if the line is not one that the agent writes.
    package init?(_ bytes: some Sequence<UInt8>) {
        guard let tree = try? JSONReader.read(Array(bytes)), let number = tree["seq"]?.integer,
            Self.numbers.contains(number), tree["prev"]?.string != nil
        else { return nil }
        self.tree = tree
        self.number = number
    }

    /// The value of a field as text; nil if there is none.
    package subscript(field: String) -> String? {
        tree[field]?.string ?? tree[field]?.integer.map(String.init)
    }

    /// The numbers of lines. No log has more, and counting on from one of them cannot overflow.
    private static let numbers: ClosedRange<Int64> = 1...(1 << 53)

    package var scopes: [String] { tree["scopes"]?.values.compactMap(\.string) ?? [] }
}

/// Checks the chain of the log's lines, one after another.
struct AuditCheck {
    private var last: (number: Int64, hash: String)?
    private let mayHaveDropped: Bool

    /// The number of the last line; 0 before the first.
    var lastNumber: Int64 { last?.number ?? 0 }

    /// - Parameter mayHaveDropped: whether the writer may have dropped the first lines, since there are as many older files as it
    ///   keeps.
    init(mayHaveDropped: Bool) { self.mayHaveDropped = mayHaveDropped }

    /// The findings in the next line: breaks of the chain before it, and the line itself if it is one that the agent writes.
    mutating func items(of bytes: some Sequence<UInt8>) -> [AuditReader.Item] {
        let (before, bytes) = (last, Array(bytes))
        guard let line = AuditLine(bytes) else {
            let number = (before?.number ?? 0) + 1
            last = (number, AuditChain.hash(of: bytes))
            return [.finding("line \(number) is damaged")]
        }
        last = (line.number, AuditChain.hash(of: bytes))
        var items: [AuditReader.Item] = []
        if before == nil, line.number != 1, !mayHaveDropped {
            items.append(.finding("the lines before \(line.number) are missing"))
        }
        if let before {
            if line.number != before.number + 1 {
                items.append(.finding("lines are missing between \(before.number) and \(line.number)"))
            } else if line["prev"] != before.hash {
                items.append(.finding("line \(before.number) is not the one that line \(line.number) follows"))
            }
        }
        return items + [.line(String(decoding: bytes, as: UTF8.self), line)]
    }
}
