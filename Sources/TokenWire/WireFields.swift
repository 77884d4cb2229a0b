internal import CProtobufC
internal import CTokenProtos
internal import TokenModel

/// How fields become values: the one place where text is checked for length, UTF-8 and NUL.
enum WireFields {
    static func text(
        _ name: String, _ has: protobuf_c_boolean, _ field: ProtobufCBinaryData, limit: Int = WireLimits.text
    ) throws(TokenError) -> String? {
        has == 0 ? nil : try text(name, field, limit: limit)
    }

    static func secret(
        _ name: String, _ has: protobuf_c_boolean, _ field: ProtobufCBinaryData
    ) throws(TokenError) -> Secret? {
        guard has != 0 else { return nil }
        let bytes = UnsafeBufferPointer(start: field.data, count: field.len)
        try check(name, bytes, limit: WireLimits.token)
        return Secret(bytes: bytes)
    }

    /// Bytes of any value, such as a part of a file.
    static func data(
        _ name: String, _ has: protobuf_c_boolean, _ field: ProtobufCBinaryData
    ) throws(TokenError) -> Secret? {
        guard has != 0 else { return nil }
        guard field.len <= WireLimits.token else {
            throw TokenError(.malformedMessage, "\(name) is \(field.len) bytes, limit \(WireLimits.token)")
        }
        return Secret(bytes: UnsafeBufferPointer(start: field.data, count: field.len))
    }

    static func number<Number>(_ has: protobuf_c_boolean, _ field: Number) -> Number? {
        has == 0 ? nil : field
    }

    /// A number of an enum; nil when it is absent, or of a later version.
    static func choice<Choice: RawRepresentable<Int32>>(
        _ has: protobuf_c_boolean, _ number: UInt32
    ) -> Choice? {
        // protobuf-c passes any 32 bits on, and enums are unsigned to Swift: a checked conversion would trap.
        has == 0 ? nil : Choice(rawValue: Int32(truncatingIfNeeded: number))
    }

    static func flag(_ has: protobuf_c_boolean, _ field: protobuf_c_boolean, default value: Bool) -> Bool {
        has == 0 ? value : field != 0
    }

    static func numbers<Number>(
        _ name: String, _ count: Int, _ field: UnsafeMutablePointer<Number>?
    ) throws(TokenError) -> [Number] {
        try checkCount(name, count)
        return Array(UnsafeBufferPointer(start: field, count: count))
    }

    static func texts(
        _ name: String, _ count: Int, _ field: UnsafeMutablePointer<ProtobufCBinaryData>?
    ) throws(TokenError) -> [String] {
        try checkCount(name, count)
        var texts: [String] = []
        for item in UnsafeBufferPointer(start: field, count: count) {
            texts.append(try text(name, item, limit: WireLimits.text))
        }
        return texts
    }

    static func pairs(
        _ name: String, _ count: Int, _ field: UnsafeMutablePointer<UnsafeMutablePointer<Sso__TextPair>?>?
    ) throws(TokenError) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in try messages(name, count, field) {
            let key = try text(name, pair.pointee.has_name, pair.pointee.name) ?? ""
            pairs[key] = try text(name, pair.pointee.has_value, pair.pointee.value, limit: WireLimits.longText) ?? ""
        }
        return pairs
    }

    static func messages<Message>(
        _ name: String, _ count: Int, _ field: UnsafeMutablePointer<UnsafeMutablePointer<Message>?>?
    ) throws(TokenError) -> [UnsafeMutablePointer<Message>] {
        try checkCount(name, count)
        return UnsafeBufferPointer(start: field, count: count).compactMap(\.self)
    }

    /// A field that a request makes no sense without.
    static func needed<Value>(_ name: String, _ value: Value?) throws(TokenError) -> Value {
        guard let value else { throw TokenError(.malformedMessage, "\(name) is missing or blank") }
        return value
    }

    private static func text(
        _ name: String, _ field: ProtobufCBinaryData, limit: Int
    ) throws(TokenError) -> String {
        let bytes = UnsafeBufferPointer(start: field.data, count: field.len)
        try check(name, bytes, limit: limit)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw TokenError(.malformedMessage, "\(name) is not UTF-8")
        }
        return text
    }

    private static func check(
        _ name: String, _ bytes: UnsafeBufferPointer<UInt8>, limit: Int
    ) throws(TokenError) {
        guard bytes.count <= limit else {
            throw TokenError(.malformedMessage, "\(name) is \(bytes.count) bytes, limit \(limit)")
        }
        guard !bytes.contains(0) else { throw TokenError(.malformedMessage, "\(name) holds a NUL byte") }
    }

    private static func checkCount(_ name: String, _ count: Int) throws(TokenError) {
        guard count <= WireLimits.listItems else {
            throw TokenError(.malformedMessage, "\(name) has \(count) items, limit \(WireLimits.listItems)")
        }
    }
}
