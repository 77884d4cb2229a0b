internal import TokenModel

/// Named values as a query or a form carries them (`application/x-www-form-urlencoded`), in order.
struct FormParameters: Sendable {
    private(set) var pairs: [(name: String, value: String)] = []

    init() {}

    /// Decodes a query or a body; `+` is a space. Nil when its percent-encoding is broken or a name comes twice, which
    /// RFC 6749 section 3.1 forbids.
    init?(decoding text: Substring) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decode), let value = Self.decode(parts.count > 1 ? parts[1] : ""),
                self[name] == nil
            else { return nil }
            pairs.append((name, value))
        }
    }

    /// The value of a name; nil when it is absent.
    subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// Adds a pair, unless there is no value.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        pairs.append((name, value))
    }

    /// Adds what an app asked for, except under names that are taken: an app may not overrule the protocol.
    mutating func add(extra: [String: String]) {
        for (name, value) in extra.sorted(by: { $0.key < $1.key }) where self[name] == nil { add(name, value) }
    }

    /// All pairs, percent-encoded but for the unreserved characters of RFC 3986 section 2.3: good in queries and forms.
    var encoded: String {
        pairs.map { "\(Self.encode($0.name))=\(Self.encode($0.value))" }.joined(separator: "&")
    }

    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if unreserved.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
