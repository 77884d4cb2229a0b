@testable internal import AgentConfiguration

/// Properties that hold for the bytes of a configuration file, whatever they are. Shared with the fuzzer in Tests/Fuzz, so this file does not
/// import Testing.
///
/// Each check returns a description of the violation; nil if there is none.
enum TOMLProperties {
    static func broken(_ bytes: [UInt8]) -> String? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count
        let document: TOMLDocument
        do throws(TOMLError) {
            document = try TOMLDocument(decoding: bytes)
        } catch {
            if (try? Configuration(decoding: bytes)) != nil { return "a configuration is no document" }
            if (try? ConfigurationText(bytes)) != nil { return "a text is no document" }
            return brokenPlace(error, lines)
        }
        return brokenOrder(document, lines) ?? brokenConfiguration(bytes, lines) ?? brokenText(bytes, document)
    }

    /// The lines of tables and entries ascend, and no key is there twice.
    private static func brokenOrder(_ document: TOMLDocument, _ lines: Int) -> String? {
        let numbers = document.tables.map(\.line) + document.elements.map(\.line) + document.entries.map(\.line)
        guard numbers.allSatisfy({ (1...lines).contains($0) }), Set(numbers).count == numbers.count else {
            return "the lines \(numbers) of \(lines)"
        }
        let keys =
            document.entriesOfNoTable.map { [$0.key] }
            + document.tables.flatMap { table in
                table.entries.map { table.names + [$0.key] }
            }
        return Set(keys).count == keys.count ? nil : "a key is there twice"
    }

    private static func brokenConfiguration(_ bytes: [UInt8], _ lines: Int) -> String? {
        do throws(TOMLError) {
            let configuration = try Configuration(decoding: bytes)
            let names = configuration.apps.map(\.name)
            return names == names.sorted() && Set(names).count == names.count ? nil : "the apps \(names)"
        } catch {
            return brokenPlace(error, lines)
        }
    }

    /// A text says what its bytes say, and a value that is set is there, beside everything else.
    private static func brokenText(_ bytes: [UInt8], _ document: TOMLDocument) -> String? {
        do throws(TOMLError) {
            var text = try ConfigurationText(bytes)
            guard try values(TOMLDocument(decoding: text.bytes)) == values(document) else { return "a text changes" }
            guard !document.elements.contains(where: { $0.name == "fuzzed" }) else { return nil }
            let value = TOMLDocument.Value.text(String(decoding: bytes.prefix(80), as: UTF8.self))
            var expected = values(document)
            expected[["fuzzed", "fuzzed table", "a key"]] = value
            try text.set("a key", to: value, in: ["fuzzed", "fuzzed table"])
            guard try values(TOMLDocument(decoding: text.bytes)) == expected else { return "\(value) is not set" }
            try text.removeTable(["fuzzed", "fuzzed table"])
            expected = expected.filter { $0.key.dropLast() != ["fuzzed", "fuzzed table"] }
            return try values(TOMLDocument(decoding: text.bytes)) == expected ? nil : "a table is not removed"
        } catch {
            return "a changed text is no document: \(error)"
        }
    }

    /// The values of tables by the names of table and key.
    private static func values(_ document: TOMLDocument) -> [[String]: TOMLDocument.Value] {
        var values: [[String]: TOMLDocument.Value] = [:]
        for entry in document.entriesOfNoTable { values[[entry.key]] = entry.value }
        for table in document.tables {
            for entry in table.entries { values[table.names + [entry.key]] = entry.value }
        }
        return values
    }

    private static func brokenPlace(_ error: TOMLError, _ lines: Int) -> String? {
        (1...lines).contains(error.line) && !error.reason.isEmpty ? nil : "\(error) in \(lines) lines"
    }
}

extension TOMLDocument {
    /// The entries of tables, and those above the first one, in the order of the file. No two have the same table and key.
    var entries: [Entry] { entriesOfNoTable + tables.flatMap(\.entries) }
}
