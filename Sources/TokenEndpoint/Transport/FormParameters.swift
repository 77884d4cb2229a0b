internal import TokenModel

/// The parameters of a query or a form (`application/x-www-form-urlencoded`), in order.
struct FormParameters: Sendable {
    private enum Value {
        case text(String)
        case secret(Secret)
    }

    private var fields: [(name: String, value: Value)] = []

    /// The names and values in order, with the secrets in plain text.
    var pairs: [(name: String, value: String)] { fields.map { ($0.name, Self.reveal($0.value)) } }

    init() {}

    /// Decodes a query or a body; `+` is a space, and U+FFFD stands for bytes that are not UTF-8: some providers describe an error in
    /// another encoding. Nil if the percent-encoding is invalid, a name occurs twice, which RFC 6749 section 3.1 forbids, there are more
    /// than 64 parameters, or one of them has too many combining characters in a row.
    init?(decoding text: Substring) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decode), let value = Self.decode(parts.count > 1 ? parts[1] : ""),
                fields.count < Self.maximumDecoded, self[name] == nil
            else { return nil }
            fields.append((name, .text(value)))
        }
    }

    /// The value of a parameter; nil if it is absent.
    subscript(name: String) -> String? { fields.first { $0.name == name }.map { Self.reveal($0.value) } }

    /// Adds a parameter unless `value` is nil.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        fields.append((name, .text(value)))
    }

    /// Adds a parameter whose value is a secret.
    mutating func add(_ name: String, secret: Secret) { fields.append((name, .secret(secret))) }

    /// Adds the app's parameters, except those whose name is used already: an app may not override the protocol. Some providers read names
    /// in any case, and without the white space around them.
    mutating func add(extra: [String: String]) {
        let protected = Set(fields.map { Self.comparable($0.name) })
        for (name, value) in extra.sorted(by: { $0.key < $1.key }) where !protected.contains(Self.comparable(name)) {
            add(name, value)
        }
    }

    private static func comparable(_ name: String) -> String { name.trimmedNonEmpty?.lowercased() ?? "" }

    /// The encoded parameters, for a query or a form. All but the unreserved characters (RFC 3986 section 2.3) are
    /// percent-encoded.
    var encoded: String { encodedSecret.reveal() }

    /// A URL with these parameters behind those that it has.
    func added(to url: String) -> String { url + (url.contains("?") ? "&" : "?") + encoded }

    /// The encoded parameters as a secret, without a copy that is not wiped.
    var encodedSecret: Secret {
        var bytes: [UInt8] = []
        // The capacity is sufficient: an array that grows would leave copies of the secrets in memory.
        bytes.reserveCapacity(fields.reduce(0) { $0 + 3 * ($1.name.utf8.count + Self.count($1.value)) + 2 })
        defer { bytes.wipe() }
        for field in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            Self.encode(field.name.utf8, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            switch field.value {
            case .text(let text): Self.encode(text.utf8, to: &bytes)
            case .secret(let secret): secret.withBytes { Self.encode($0, to: &bytes) }
            }
        }
        return Secret(bytes: bytes)
    }

    private static let maximumDecoded = 64

    private static func reveal(_ value: Value) -> String {
        switch value {
        case .text(let text): text
        case .secret(let secret): secret.reveal()
        }
    }

    private static func count(_ value: Value) -> Int {
        switch value {
        case .text(let text): text.utf8.count
        case .secret(let secret): secret.count
        }
    }

    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func encode(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        for byte in text {
            if unreserved.contains(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            }
        }
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
        let decoded = String(decoding: bytes, as: UTF8.self)
        return CombiningCharacters.areExcessive(in: decoded) ? nil : decoded
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
