internal import CProtobufC
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads or writes the fields of a message by name. All checks of length, UTF-8 and NUL are made here.
///
/// Each method has the value to write as its parameter and returns it, or returns the value that has been read. An absent field is
/// nil, an absent list is empty. Access is fastest in the order of agent.proto. A name that is not in the message, or has another
/// type there, is a programming error of this module and stops the process.
package struct WireFields {
    private let message: UnsafeMutableRawPointer
    private let descriptor: UnsafePointer<ProtobufCMessageDescriptor>
    private let arena: WireArena?
    /// Whether the message is a request, or a part of one.
    private let isOfRequest: Bool
    private var next = 0

    /// Creates fields for reading a message.
    init(reading message: UnsafeMutableRawPointer, _ type: WireType, isOfRequest: Bool) {
        self.message = message
        self.isOfRequest = isOfRequest
        descriptor = type.descriptor
        arena = nil
    }

    /// Creates fields for writing a message, with memory of `arena`.
    init(writing message: UnsafeMutableRawPointer, _ type: WireType, _ arena: WireArena) {
        self.message = message
        descriptor = type.descriptor
        isOfRequest = false
        self.arena = arena
    }

    // MARK: Text and bytes

    mutating func text<Text: WireText>(
        _ name: StaticString, _ value: Text?, limit: Int = WireLimits.text
    ) throws(TokenError) -> Text? {
        let field = field(name, PROTOBUF_C_TYPE_BYTES)
        guard let arena else { return try field.text(message, limit: limit).flatMap { Text($0) } }
        if let value { field.put(arena.copy(value.wireText), message) }
        return value
    }

    /// Text of a message or description, which is truncated to the limit when it is written.
    mutating func wording(
        _ name: StaticString, _ value: String?, limit: Int = WireLimits.text
    ) throws(TokenError) -> String? {
        try text(name, value.map { ValueLimits.message($0, limit: limit) }, limit: limit)
    }

    /// A secret without NUL, such as a token.
    mutating func secret(_ name: StaticString, _ value: Secret?) throws(TokenError) -> Secret? {
        let field = field(name, PROTOBUF_C_TYPE_BYTES)
        guard let arena else { return try field.secret(message) }
        if let value { field.put(value.withBytes { arena.copy($0) }, message) }
        return value
    }

    /// Arbitrary bytes, such as a part of a file.
    mutating func data(_ name: StaticString, _ value: Secret?) throws(TokenError) -> Secret? {
        let field = field(name, PROTOBUF_C_TYPE_BYTES)
        guard let arena else { return try field.data(message) }
        if let value { field.put(value.withBytes { arena.copy($0) }, message) }
        return value
    }

    // MARK: Numbers

    mutating func number<Number: WireNumber>(_ name: StaticString, _ value: Number?) -> Number? {
        let field = field(name, Number.types)
        guard arena != nil else { return field.isPresent(message) ? field.load(message, as: Number.self) : nil }
        if let value { field.put(value, message) }
        return value
    }

    mutating func flag(_ name: StaticString, _ value: Bool?) -> Bool? {
        let field = field(name, PROTOBUF_C_TYPE_BOOL)
        guard arena != nil else {
            guard field.isPresent(message) else { return nil }
            return field.load(message, as: protobuf_c_boolean.self) != 0
        }
        if let value { field.put(protobuf_c_boolean(value ? 1 : 0), message) }
        return value
    }

    /// A flag that is written only if it is true, so that messages without it have the same bytes as before it existed.
    mutating func wish(_ name: StaticString, _ value: Bool?) -> Bool {
        flag(name, value == true ? true : nil) ?? false
    }

    /// An enum value; nil if it is absent or, in a reply, unknown to this version.
    ///
    /// - Throws: `malformedMessage` (-53001) for a value in a request that this version does not know. With the default in its place, a
    ///   secret might be sent to the wrong endpoint, or the wrong records removed.
    mutating func choice<Choice: RawRepresentable<Int32>>(
        _ name: StaticString, _ value: Choice?
    ) throws(TokenError) -> Choice? {
        let field = field(name, PROTOBUF_C_TYPE_ENUM)
        guard arena == nil else {
            if let value { field.put(value.rawValue, message) }
            return value
        }
        guard field.isPresent(message) else { return nil }
        let number = field.load(message, as: Int32.self)
        if let choice = Choice(rawValue: number) { return choice }
        guard isOfRequest else { return nil }
        throw TokenError(.malformedMessage, "\(name) \(UInt32(bitPattern: number)) is not known; update the agent")
    }

    // MARK: Messages

    mutating func message<Value: WireMessage>(_ name: StaticString, _ value: Value?) throws(TokenError) -> Value? {
        let field = field(name, PROTOBUF_C_TYPE_MESSAGE)
        guard let arena else {
            guard let pointer = field.load(message, as: UnsafeMutableRawPointer?.self) else { return nil }
            return try Value(reading: pointer, isOfRequest: isOfRequest)
        }
        if let value { field.store(try value.write(arena), message) }
        return value
    }

    // MARK: Lists

    mutating func texts(_ name: StaticString, _ values: [String]?) throws(TokenError) -> [String] {
        let field = field(name, PROTOBUF_C_TYPE_BYTES)
        guard let arena else {
            var texts: [String] = []
            for bytes in try field.items(message, of: ProtobufCBinaryData.self) {
                texts.append(try field.text(bytes, limit: WireLimits.text))
            }
            return texts
        }
        let values = values ?? []
        field.put(values.lazy.map { arena.copy($0) }, message, arena)
        return values
    }

    /// Texts of messages or descriptions. Long texts are truncated and excess ones dropped when they are written.
    mutating func wordings(_ name: StaticString, _ values: [String]?) throws(TokenError) -> [String] {
        try texts(name, values?.prefix(WireLimits.listItems).map { ValueLimits.message($0) })
    }

    mutating func numbers<Number: WireNumber>(
        _ name: StaticString, _ values: [Number]?
    ) throws(TokenError) -> [Number] {
        let field = field(name, Number.types)
        guard let arena else { return Array(try field.items(message, of: Number.self)) }
        let values = values ?? []
        field.put(values, message, arena)
        return values
    }

    mutating func messages<Value: WireMessage>(_ name: StaticString, _ values: [Value]?) throws(TokenError) -> [Value] {
        let field = field(name, PROTOBUF_C_TYPE_MESSAGE)
        guard let arena else {
            var values: [Value] = []
            for pointer in try field.items(message, of: UnsafeMutableRawPointer?.self) {
                if let pointer { values.append(try Value(reading: pointer, isOfRequest: isOfRequest)) }
            }
            return values
        }
        let values = values ?? []
        var pointers: [UnsafeMutableRawPointer?] = []
        for value in values { pointers.append(try value.write(arena)) }
        field.put(pointers, message, arena)
        return values
    }

    // MARK: Required fields

    mutating func required<Text: WireText>(_ name: StaticString, _ value: Text?) throws(TokenError) -> Text {
        try Self.required(name, text(name, value))
    }

    mutating func required<Value: WireMessage>(_ name: StaticString, _ value: Value?) throws(TokenError) -> Value {
        try Self.required(name, message(name, value))
    }

    /// - Throws: `malformedMessage` (-53001) if there is no value.
    static func required<Value>(_ name: StaticString, _ value: Value?) throws(TokenError) -> Value {
        guard let value else { throw TokenError(.malformedMessage, "\(name) is missing or blank") }
        return value
    }

    /// Finds a field by name. The search begins after the last field, since fields are accessed in the order of agent.proto.
    private mutating func field(_ name: StaticString, _ type: ProtobufCType) -> WireField {
        field(name, (type, type))
    }

    private mutating func field(_ name: StaticString, _ types: (ProtobufCType, ProtobufCType)) -> WireField {
        let fields = descriptor.pointee.fields
        let count = Int(descriptor.pointee.n_fields)
        for offset in 0..<count {
            let index = (next + offset) % count
            guard let field = fields.map({ $0 + index }), field.hasName(name) else { continue }
            let type = field.pointee.type
            precondition(type == types.0 || type == types.1, "\(name) has another type in agent.proto")
            next = index + 1
            return WireField(descriptor: field)
        }
        preconditionFailure("agent.proto has no field \(name) here")
    }
}

extension WireMessage {
    /// Reads a message that protobuf-c has unpacked.
    ///
    /// - Parameter isOfRequest: whether it is a request, or a part of one.
    init(reading message: UnsafeMutableRawPointer, isOfRequest: Bool) throws(TokenError) {
        var fields = WireFields(reading: message, Self.type, isOfRequest: isOfRequest)
        try self.init(nil, &fields)
    }

    /// Writes the value as a message for protobuf-c to pack; nil if the arena is exhausted.
    func write(_ arena: WireArena) throws(TokenError) -> UnsafeMutableRawPointer? {
        guard let message = arena.message(Self.type) else { return nil }
        var fields = WireFields(writing: message, Self.type, arena)
        _ = try Self(self, &fields)
        return message
    }
}

extension UnsafePointer<ProtobufCFieldDescriptor> {
    fileprivate func hasName(_ name: StaticString) -> Bool {
        guard let own = pointee.name else { return false }
        // Both strings end with NUL.
        return name.withUTF8Buffer { other in other.baseAddress.map { strcmp(own, $0) == 0 } ?? false }
    }
}
