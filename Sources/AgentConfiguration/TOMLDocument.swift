/// A document in the subset of TOML 1.0 that the configuration needs: comments, `[table]`, and `key = value` with a basic
/// string, a literal string, an integer or a Boolean. Anything else is an error with a line number.
struct TOMLDocument: Sendable, Equatable {
    enum Value: Sendable, Equatable {
        case text(String)
        case integer(Int64)
        case boolean(Bool)
    }

    /// A line `key = value`.
    struct Entry: Sendable, Equatable {
        /// The number of the line, counted from 1.
        let line: Int
        /// The name of the table; empty above the first one.
        let table: String
        let key: String
        let value: Value

        /// The value of a key that takes a string.
        var text: String {
            get throws(TOMLError) {
                guard case .text(let text) = value else {
                    throw TOMLError(line, "the value of “\(key)” is not a string; put it between quotation marks")
                }
                return text
            }
        }
    }

    /// The entries in the order of the file. No two have the same table and key.
    private(set) var entries: [Entry] = []

    init(decoding bytes: some Sequence<UInt8>) throws(TOMLError) {
        var bytes = Array(bytes)
        // Some editors write a byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        var table = ""
        var tables: Set<String> = []
        var keys: Set<[String]> = []
        var number = 0
        for bytes in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw TOMLError(number, "the line is not UTF-8; save the file as UTF-8")
            }
            var line = TOMLLine(text, number: number)
            switch try line.content() {
            case .nothing: break
            case .table(let name):
                guard tables.insert(name).inserted else {
                    throw TOMLError(number, "[\(name)] is there twice; merge the two tables")
                }
                table = name
            case .entry(let key, let value):
                guard keys.insert([table, key]).inserted else {
                    throw TOMLError(number, "“\(key)” is there twice; remove one of the two lines")
                }
                entries.append(Entry(line: number, table: table, key: key, value: value))
            }
        }
    }
}

/// A syntax error: the line, the error, and the remedy.
struct TOMLError: Error, Sendable, Equatable, CustomStringConvertible {
    let line: Int
    let reason: String

    init(_ line: Int, _ reason: String) {
        self.line = line
        self.reason = reason
    }

    var description: String { "line \(line): \(reason)" }
}
