internal import CProtobufC
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A field of a message that protobuf-c has unpacked or will pack.
struct WireField {
    let descriptor: UnsafePointer<ProtobufCFieldDescriptor>

    /// The field's name, for error messages.
    private var name: String { descriptor.pointee.name.map { String(cString: $0) } ?? "" }
    private var offset: Int { Int(descriptor.pointee.offset) }
    /// The offset of an optional field's presence, or of a repeated field's number of items.
    private var quantifierOffset: Int { Int(descriptor.pointee.quantifier_offset) }

    // MARK: Reading

    func isPresent(_ message: UnsafeMutableRawPointer) -> Bool {
        message.load(fromByteOffset: quantifierOffset, as: protobuf_c_boolean.self) != 0
    }

    func load<Value: BitwiseCopyable>(_ message: UnsafeMutableRawPointer, as type: Value.Type) -> Value {
        message.load(fromByteOffset: offset, as: Value.self)
    }

    func text(_ message: UnsafeMutableRawPointer, limit: Int) throws(TokenError) -> String? {
        guard isPresent(message) else { return nil }
        return try text(load(message, as: ProtobufCBinaryData.self), limit: limit)
    }

    func text(_ bytes: ProtobufCBinaryData, limit: Int) throws(TokenError) -> String {
        let bytes = UnsafeBufferPointer(start: bytes.data, count: bytes.len)
        guard let start = try check(bytes, limit: limit) else { return "" }
        if bytes.isASCII { return String(decoding: bytes, as: UTF8.self) }
        var text = String(decoding: bytes, as: UTF8.self)
        // `decoding:` repairs invalid UTF-8, so that the text differs from the bytes. The validating initialiser of `String` is
        // slower, since it looks up generic types at each call.
        guard
            text.withUTF8({ text in
                text.count == bytes.count && text.baseAddress.map { memcmp($0, start, text.count) } == 0
            })
        else {
            throw TokenError(.malformedMessage, "\(name) is not UTF-8")
        }
        guard !CombiningCharacters.areExcessive(in: bytes) else {
            throw TokenError(
                .malformedMessage,
                "\(name) has more than \(CombiningCharacters.longestRun) combining characters in a row")
        }
        return text
    }

    func secret(_ message: UnsafeMutableRawPointer) throws(TokenError) -> Secret? {
        guard isPresent(message) else { return nil }
        let field = load(message, as: ProtobufCBinaryData.self)
        let bytes = UnsafeBufferPointer(start: field.data, count: field.len)
        try check(bytes, limit: WireLimits.token)
        return Secret(bytes: bytes)
    }

    func data(_ message: UnsafeMutableRawPointer) throws(TokenError) -> Secret? {
        guard isPresent(message) else { return nil }
        let field = load(message, as: ProtobufCBinaryData.self)
        try checkLength(field.len, limit: WireLimits.token)
        return Secret(bytes: UnsafeBufferPointer(start: field.data, count: field.len))
    }

    func items<Item: BitwiseCopyable>(
        _ message: UnsafeMutableRawPointer, of type: Item.Type
    ) throws(TokenError) -> UnsafeBufferPointer<Item> {
        let count = message.load(fromByteOffset: quantifierOffset, as: Int.self)
        guard count <= WireLimits.listItems else {
            throw TokenError(.malformedMessage, "\(name) has \(count) items, limit \(WireLimits.listItems)")
        }
        let items = load(message, as: UnsafePointer<Item>?.self)
        return UnsafeBufferPointer(start: items, count: items == nil ? 0 : count)
    }

    /// Checks the length of bytes, and that they have no NUL.
    ///
    /// - Returns: the address of the first byte; nil if there are none.
    @discardableResult
    private func check(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int) throws(TokenError) -> UnsafePointer<UInt8>? {
        try checkLength(bytes.count, limit: limit)
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return nil }
        guard memchr(start, 0, bytes.count) == nil else {
            throw TokenError(.malformedMessage, "\(name) holds a NUL byte")
        }
        return start
    }

    private func checkLength(_ length: Int, limit: Int) throws(TokenError) {
        guard length <= limit else {
            throw TokenError(.malformedMessage, "\(name) is \(length) bytes, limit \(limit)")
        }
    }

    // MARK: Writing

    /// Writes an optional field.
    func put<Value: BitwiseCopyable>(_ value: Value, _ message: UnsafeMutableRawPointer) {
        store(value, message)
        message.storeBytes(of: 1, toByteOffset: quantifierOffset, as: protobuf_c_boolean.self)
    }

    /// Writes a repeated field.
    func put<Items: Collection>(
        _ items: Items, _ message: UnsafeMutableRawPointer, _ arena: WireArena
    ) where Items.Element: BitwiseCopyable {
        guard let array = arena.array(of: Items.Element.self, count: items.count) else { return }
        for (index, item) in items.enumerated() { array[index] = item }
        store(array, message)
        message.storeBytes(of: items.count, toByteOffset: quantifierOffset, as: Int.self)
    }

    func store<Value: BitwiseCopyable>(_ value: Value, _ message: UnsafeMutableRawPointer) {
        message.storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }
}

/// A type of numeric fields.
protocol WireNumber: BitwiseCopyable {
    /// The two types in agent.proto that this type can have: the plain one, and the one for numbers that are often negative.
    static var types: (plain: ProtobufCType, signed: ProtobufCType) { get }
}

extension Int32: WireNumber {
    static var types: (plain: ProtobufCType, signed: ProtobufCType) { (PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SINT32) }
}

extension Int64: WireNumber {
    static var types: (plain: ProtobufCType, signed: ProtobufCType) { (PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64) }
}

extension UInt32: WireNumber {
    static var types: (plain: ProtobufCType, signed: ProtobufCType) { (PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_UINT32) }
}
