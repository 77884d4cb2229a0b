internal import CTokenProtos
internal import TokenModel

/// The message for an entry of a dictionary of texts.
struct TextPair: WireMessage {
    static let type = WireType(sso__text_pair__init)

    var name: String
    var value: String

    init(_ pair: TextPair?, _ fields: inout WireFields) throws(TokenError) {
        name = try fields.text("name", pair?.name) ?? ""
        value = try fields.text("value", pair?.value, limit: WireLimits.longText) ?? ""
    }

    fileprivate init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension WireFields {
    /// A dictionary of texts, written in the order of its keys.
    mutating func pairs(_ name: StaticString, _ values: [String: String]?) throws(TokenError) -> [String: String] {
        if let values, values.isEmpty { return values }
        let pairs = values.map { $0.sorted { $0.key < $1.key }.map { TextPair(name: $0.key, value: $0.value) } }
        let read = try messages(name, pairs)
        return values ?? Dictionary(read.map { ($0.name, $0.value) }) { $1 }
    }
}
