internal import CProtobufC
internal import CTokenProtos
internal import TokenModel

extension CacheFormat {
    /// A format of a later version is refused: nothing else could be made of the bytes.
    init(wire has: protobuf_c_boolean, _ number: UInt32) throws(TokenError) {
        let number = try WireFields.needed("format", WireFields.number(has, number))
        guard let format: CacheFormat = WireFields.choice(has, number) else {
            throw TokenError(.malformedMessage, "format \(number) is not known; update the agent")
        }
        self = format
    }

    var wire: Sso__CacheFormat { Sso__CacheFormat(rawValue: numericCast(rawValue)) }
}
