internal import TokenModel

/// How much one message may hold; each limit is checked before memory is taken. What values are held to before they are
/// stored is in `ValueLimits`; a value within those fits into a message.
package enum WireLimits {
    /// Version of the protocol that this package speaks.
    package static let protocolVersion: UInt32 = 1
    /// Longest request, in bytes: a silent request is a few hundred; claims may take 32 KiB.
    package static let requestFrame = 64 * 1024
    /// Longest reply, in bytes: a page of accounts with their ID tokens.
    package static let replyFrame = 1024 * 1024
    /// Longest list in a message.
    package static let listItems = ValueLimits.listItems
    /// Longest text, in bytes, unless a field says otherwise.
    package static let text = ValueLimits.text
    /// Longest claims request or URL of a redirect, in bytes.
    package static let longText = ValueLimits.longText
    /// Longest token, in bytes.
    package static let token = ValueLimits.token
    /// Memory that decoding a frame of `length` bytes may take: small messages unpack to several times their size.
    package static func memory(forFrameOf length: Int) -> Int { 8 * length + 64 * 1024 }
}
