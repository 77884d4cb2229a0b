internal import CProtobufC
internal import CTokenProtos
internal import TokenModel

/// How values become fields: each sets presence and content together, so that neither is forgotten.
extension WireArena {
    func put(_ text: String?, _ has: inout protobuf_c_boolean, _ field: inout ProtobufCBinaryData) {
        guard var text else { return }
        field = text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
        has = 1
    }

    /// A text for people to read, cut to what a message may hold.
    func put(
        cut text: String?, to limit: Int = WireLimits.text, _ has: inout protobuf_c_boolean,
        _ field: inout ProtobufCBinaryData
    ) {
        put(text.map { ValueLimits.message($0, limit: limit) }, &has, &field)
    }

    /// The first of many texts for people to read, each cut to what a message may hold.
    func put(
        cut texts: [String], _ count: inout Int, _ field: inout UnsafeMutablePointer<ProtobufCBinaryData>?
    ) {
        put(texts.prefix(WireLimits.listItems).map { ValueLimits.message($0) }, &count, &field)
    }

    func put(_ secret: Secret, _ has: inout protobuf_c_boolean, _ field: inout ProtobufCBinaryData) {
        field = secret.withBytes { copy($0) }
        has = 1
    }

    func put(_ flag: Bool, _ has: inout protobuf_c_boolean, _ field: inout protobuf_c_boolean) {
        field = flag ? 1 : 0
        has = 1
    }

    func put<Number: FixedWidthInteger>(_ number: Number?, _ has: inout protobuf_c_boolean, _ field: inout Number) {
        guard let number else { return }
        field = number
        has = 1
    }

    func put<Number>(_ number: Number, _ has: inout protobuf_c_boolean, _ field: inout Number) {
        field = number
        has = 1
    }

    func put(_ texts: [String], _ count: inout Int, _ field: inout UnsafeMutablePointer<ProtobufCBinaryData>?) {
        field = array(of: ProtobufCBinaryData.self, count: texts.count)
        for (index, text) in texts.enumerated() {
            var text = text
            field?[index] = text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
        }
        count = field == nil ? 0 : texts.count
    }

    func put<Message>(
        _ messages: [UnsafeMutablePointer<Message>?], _ count: inout Int,
        _ field: inout UnsafeMutablePointer<UnsafeMutablePointer<Message>?>?
    ) {
        field = array(of: UnsafeMutablePointer<Message>?.self, count: messages.count)
        for (index, message) in messages.enumerated() { field?[index] = message }
        count = field == nil ? 0 : messages.count
    }

    func put(
        _ pairs: [String: String], _ count: inout Int,
        _ field: inout UnsafeMutablePointer<UnsafeMutablePointer<Sso__TextPair>?>?
    ) {
        let messages = pairs.sorted { $0.key < $1.key }.map { name, value in
            let pair = message(sso__text_pair__init)
            if let pair {
                put(name, &pair.pointee.has_name, &pair.pointee.name)
                put(value, &pair.pointee.has_value, &pair.pointee.value)
            }
            return pair
        }
        put(messages, &count, &field)
    }

    private func copy(_ bytes: UnsafeRawBufferPointer) -> ProtobufCBinaryData {
        guard !bytes.isEmpty, let memory = take(bytes.count), let base = bytes.baseAddress else {
            return ProtobufCBinaryData(len: 0, data: nil)
        }
        memory.copyMemory(from: base, byteCount: bytes.count)
        return ProtobufCBinaryData(len: bytes.count, data: memory.assumingMemoryBound(to: UInt8.self))
    }
}
