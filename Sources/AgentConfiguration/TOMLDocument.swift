internal import TokenModel

/// A document in the subset of TOML 1.0 that the configuration needs: comments, `[table]`, `[table.name]`, `[[element]]` of an array of
/// tables, and `key = value` with a basic string, a literal string, an integer, a Boolean, or an array of strings on one line. Anything else
/// is an error with a line number.
struct TOMLDocument: Sendable, Equatable {
    enum Value: Sendable, Equatable {
        case text(String)
        case integer(Int64)
        case boolean(Bool)
        case texts([String])
    }

    /// A line `key = value`.
    struct Entry: Sendable, Equatable {
        /// The number of the line, counted from 1.
        let line: Int
        /// The name of the table, as in `network` or `apps.graph`; empty above the first one.
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

        /// The value of a key that takes an array of strings.
        var texts: [String] {
            get throws(TOMLError) {
                guard case .texts(let texts) = value else {
                    throw TOMLError(
                        line, "the value of “\(key)” is not an array of strings; write it as in \(key) = [\"…\"]")
                }
                guard !texts.isEmpty else {
                    throw TOMLError(line, "“\(key)” needs at least one string; write it as in \(key) = [\"…\"]")
                }
                return texts
            }
        }

        /// The value of a key that takes a Boolean.
        var flag: Bool {
            get throws(TOMLError) {
                guard case .boolean(let flag) = value else {
                    throw TOMLError(line, "the value of “\(key)” is not a Boolean; write true or false")
                }
                return flag
            }
        }
    }

    /// An element of an array of tables: a line `[[name]]` and the keys below it.
    struct Element: Sendable, Equatable {
        /// The number of the line `[[name]]`, counted from 1.
        let line: Int
        let name: String
        fileprivate(set) var entries: [Entry] = []
    }

    /// A line `[name]` or `[table.name]`, and the keys below it.
    struct Table: Sendable, Equatable {
        /// The number of the line, counted from 1.
        let line: Int
        /// The names in the header of the table: one or two.
        let names: [String]
        fileprivate(set) var entries: [Entry] = []
    }

    /// The tables in the order of the file. No two have the same names.
    private(set) var tables: [Table] = []
    /// The entries above the first table.
    private(set) var entriesOfNoTable: [Entry] = []
    /// The elements of arrays of tables, in the order of the file.
    private(set) var elements: [Element] = []

    init(decoding bytes: some Sequence<UInt8>) throws(TOMLError) {
        var bytes = Array(bytes)
        // Some editors write a byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        var table: [String] = []
        var tableNames: Set<String> = []
        var keys: Set<String> = []
        var elementKeys: Set<String> = []
        var isInElement = false
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
            case .table(let names):
                let name = Self.name(names)
                guard tableNames.insert(Self.path(names)).inserted else {
                    throw TOMLError(number, "[\(name)] is there twice; merge the two tables")
                }
                guard !elements.contains(where: { [$0.name] == names }) else {
                    throw TOMLError(number, "[\(name)] is an array of tables above; write [[\(name)]]")
                }
                tables.append(Table(line: number, names: names))
                (table, isInElement) = (names, false)
            case .element(let name):
                guard !tableNames.contains(Self.path([name])) else {
                    throw TOMLError(number, "[\(name)] is a table above; write both as [[\(name)]]")
                }
                elements.append(Element(line: number, name: name))
                (table, isInElement) = ([name], true)
                elementKeys = []
            case .entry(let key, let value):
                let path = Self.path(table + [key])
                guard isInElement ? elementKeys.insert(path).inserted : keys.insert(path).inserted else {
                    throw TOMLError(number, "“\(key)” is there twice; remove one of the two lines")
                }
                add(Entry(line: number, table: Self.name(table), key: key, value: value), isInElement: isInElement)
            }
        }
    }

    /// Adds an entry to the table or the element that was begun last.
    private mutating func add(_ entry: Entry, isInElement: Bool) {
        if isInElement {
            elements[elements.count - 1].entries.append(entry)
        } else if tables.isEmpty {
            entriesOfNoTable.append(entry)
        } else {
            tables[tables.count - 1].entries.append(entry)
        }
    }

    /// The name of a table, as in `apps.graph`. The library's `joined` searches all types of the program for what it needs to join texts.
    private static func name(_ names: [String]) -> String {
        names.dropFirst().reduce(names.first ?? "") { "\($0).\($1)" }
    }

    /// A text that only these names have, each with its length, since a name may contain any character. The first set of lists of texts
    /// would search all types, too.
    private static func path(_ names: [String]) -> String {
        names.reduce("") { "\($0)\($1.utf8.count):\($1)" }
    }
}

/// A syntax error: the line, the error, and the remedy.
struct TOMLError: Error, Sendable, Equatable {
    /// Counted from 1.
    let line: Int
    let reason: String

    init(_ line: Int, _ reason: String) {
        self.line = line
        self.reason = reason
    }

    /// The error of a file, with the place as compilers write it.
    ///
    /// - Returns: `invalidDeveloperParameter` (-51112).
    func inFile(_ path: String) -> TokenError {
        TokenError(.invalidDeveloperParameter, "\(path):\(line): \(reason)")
            .suggesting(ConfigurationFiles.editCommand(path, line: line))
    }
}
