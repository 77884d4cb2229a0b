internal import CProtobufC
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The fields of one message, read or written by name: the one place where they are checked for length, UTF-8 and NUL.
///
/// Each method takes the value to write, and returns it, or returns the value that was read. A field that is absent is nil, or
/// empty if it is a list. Names are cheapest in the order of agent.proto. A name that is not in the message, or has another
/// type there, is a mistake in this module: it stops the process, in the first test that comes by.
package struct WireFields {
    private let message: UnsafeMutableRawPointer
    private let descriptor: UnsafePointer<ProtobufCMessageDescriptor>
    private let arena: WireArena?
    private var next = 0

    /// Reads a message.
    init(reading message: UnsafeMutableRawPointer, _ type: WireType) {
        self.message = message
        descriptor = type.descriptor
        arena = nil
    }

    /// Writes a message, with memory from `arena`.
    init(writing message: UnsafeMutableRawPointer, _ type: WireType, _ arena: WireArena) {
        self.message = message
        descriptor = type.descriptor
        self.arena = arena
    }

    // MARK: Text and bytes

    mutating func text<Text: WireText>(
        _ name: StaticString, _ value: Text?, limit: Int = WireLimits.text
    ) throws(TokenError) -> Text? {
        let field = field(name, PROTOBUF_C_TYPE_BYTES)
        guard let arena else { return try field.text(message, limit: limit).flatMap { Text(wireText: $0) } }
        if let value { field.put(arena.copy(value.wireText), message) }
        return value
    }

    /// Text for people: what is too long is cut when it is written.
    mutating func wording(
        _ name: StaticString, _ value: String?, limit: Int = WireLimits.text
    ) throws(TokenError) -> String? {
        try text(name, value.map { ValueLimits.message($0, limit: limit) }, limit: limit)
    }

    /// Bytes without NUL, such as a token.
    mutating func secret(_ name: StaticString, _ value: Secret?) throws(TokenError) -> Secret? {
        let field = field(name, PROTOBUF_C_TYPE_BYTES)
        guard let arena else { return try field.secret(message) }
        if let value { field.put(value.withBytes { arena.copy($0) }, message) }
        return value
    }

    /// Bytes of any value, such as a part of a file.
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

    /// A number of an enum; nil if it is absent, or of a later version.
    mutating func choice<Choice: RawRepresentable<Int32>>(_ name: StaticString, _ value: Choice?) -> Choice? {
        choiceNumber(name, value?.rawValue).flatMap { Choice(rawValue: $0) }
    }

    /// A number of an enum for which no other may be taken: one of a later version is refused.
    mutating func knownChoice<Choice: RawRepresentable<Int32>>(
        _ name: StaticString, _ value: Choice?
    ) throws(TokenError) -> Choice? {
        guard let number = choiceNumber(name, value?.rawValue) else { return nil }
        guard let choice = Choice(rawValue: number) else {
            throw TokenError(.malformedMessage, "\(name) \(UInt32(bitPattern: number)) is not known; update the agent")
        }
        return choice
    }

    private mutating func choiceNumber(_ name: StaticString, _ value: Int32?) -> Int32? {
        let field = field(name, PROTOBUF_C_TYPE_ENUM)
        guard arena != nil else { return field.isPresent(message) ? field.load(message, as: Int32.self) : nil }
        if let value { field.put(value, message) }
        return value
    }

    // MARK: Messages

    mutating func message<Value: WireMessage>(_ name: StaticString, _ value: Value?) throws(TokenError) -> Value? {
        let field = field(name, PROTOBUF_C_TYPE_MESSAGE)
        guard let arena else {
            return try field.load(message, as: UnsafeMutableRawPointer?.self).map { (pointer) throws(TokenError) in
                try Value(reading: pointer)
            }
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

    /// Texts for people: those that are too long, and too many of them, are cut when they are written.
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

    mutating func messages<Value: WireMessage>(
        _ name: StaticString, _ values: [Value]?
    ) throws(TokenError) -> [Value] {
        let field = field(name, PROTOBUF_C_TYPE_MESSAGE)
        guard let arena else {
            var values: [Value] = []
            for pointer in try field.items(message, of: UnsafeMutableRawPointer?.self) {
                if let pointer { values.append(try Value(reading: pointer)) }
            }
            return values
        }
        let values = values ?? []
        var pointers: [UnsafeMutableRawPointer?] = []
        for value in values { pointers.append(try value.write(arena)) }
        field.put(pointers, message, arena)
        return values
    }

    // MARK: Fields that nothing makes sense without

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

    /// The field of a name, from the one after the last; they come in the order of agent.proto.
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
    init(reading message: UnsafeMutableRawPointer) throws(TokenError) {
        var fields = WireFields(reading: message, Self.type)
        try self.init(nil, &fields)
    }

    /// A message to pack; nil if there is no more memory.
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
        // Both end with NUL.
        return name.withUTF8Buffer { other in other.baseAddress.map { strcmp(own, $0) == 0 } ?? false }
    }
}
