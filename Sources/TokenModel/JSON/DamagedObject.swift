/// An object that is not JSON as a whole, of which single members can be read nevertheless: one of its texts is not UTF-8, one of its
/// numbers is none, its end is missing, or something follows it.
///
/// Only quotes, brackets, colons and commas are read of what is passed over. That is linear in its length, and nothing of it is kept.
/// `JSONReader` reads the members that are wanted.
package struct DamagedObject {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    /// The members with these names whose values are texts; of several with one name, the last. Empty if `text` does not begin with an
    /// object.
    package static func texts(named names: [String], in text: Secret) -> JSONTree {
        text.withBytes { bytes in
            var object = DamagedObject(bytes: bytes)
            let texts = object.texts(named: names)
            return .object(
                names.compactMap { name in
                    guard let text = texts[name], let value = try? JSONReader.read(Secret(bytes: bytes[text])) else {
                        return nil
                    }
                    return JSONTree.Member(name: name, value: value)
                })
        }
    }

    private init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        for byte: UInt8 in [0xEF, 0xBB, 0xBF] where next == byte { index += 1 }
    }

    /// The places of the values, with their quotes.
    private mutating func texts(named names: [String]) -> [String: Range<Int>] {
        skipSpace()
        guard next == UInt8(ascii: "{") else { return [:] }
        var found: [String: Range<Int>] = [:]
        var depth = 0
        // Whether a text is the name of one of the object's own members: it follows the bracket of the object, or a comma in it.
        var isName = false
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = passText() else { return found }
                if isName, let name = names.first(where: { isText(text, $0) }), let value = textOfMember() {
                    found[name] = value
                }
                isName = false
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                isName = depth == 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                guard depth > 0 else { return found }
                isName = false
                index += 1
            case UInt8(ascii: ","):
                isName = depth == 1
                index += 1
            default:
                if !Self.isSpace(byte) { isName = false }
                index += 1
            }
        }
        return found
    }

    /// Passes over the value of the member whose name was passed; nil if it is no text, or not all of it.
    private mutating func textOfMember() -> Range<Int>? {
        skipSpace()
        guard next == UInt8(ascii: ":") else { return nil }
        index += 1
        skipSpace()
        guard next == UInt8(ascii: "\""), let text = passText() else { return nil }
        skipSpace()
        // If anything else follows, this quote does not end the text: it is a part of it, and should have a backslash before it.
        guard next == nil || next == UInt8(ascii: ",") || next == UInt8(ascii: "}") else { return nil }
        return text
    }

    /// Passes over a text, and returns the range of it with its quotes; nil if its end is missing.
    private mutating func passText() -> Range<Int>? {
        let start = index
        index += 1
        while let byte = next {
            index += 1
            if byte == UInt8(ascii: "\"") { return start..<index }
            if byte == UInt8(ascii: "\\") { index += 1 }
        }
        return nil
    }

    private func isText(_ text: Range<Int>, _ name: String) -> Bool {
        bytes[text].dropFirst().dropLast().elementsEqual(name.utf8)
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, Self.isSpace(byte) { index += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
