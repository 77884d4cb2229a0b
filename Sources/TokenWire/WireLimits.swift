internal import TokenModel

/// The limits of messages, each checked before memory is allocated. `ValueLimits` has the limits of stored values, which fit
/// into messages.
package enum WireLimits {
    /// The protocol version of this package.
    package static let protocolVersion: UInt32 = 1
    /// The maximum length of a request in bytes. A silent request has a few hundred; claims can have 32 KiB.
    package static let requestFrame = 64 * 1024
    /// The maximum length of a reply in bytes: enough for a page of accounts with their ID tokens.
    package static let replyFrame = 1024 * 1024
    /// The maximum number of items of a list.
    package static let listItems = ValueLimits.listItems
    /// The maximum length of a text in bytes, unless the field has another limit.
    package static let text = ValueLimits.text
    /// The maximum length of a claims request or a redirect's URL in bytes.
    package static let longText = ValueLimits.longText
    /// The maximum length of a token in bytes.
    package static let token = ValueLimits.token
    /// The memory that decoding a frame of `length` bytes may allocate: small messages unpack to several times their size.
    package static func memory(forFrameOf length: Int) -> Int { 8 * length + 64 * 1024 }
}
