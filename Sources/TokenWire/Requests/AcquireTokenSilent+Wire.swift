internal import CTokenProtos
package import TokenModel

extension AcquireTokenSilent: WireRequest {
    package static let type = WireType(sso__acquire_token_silent__init)

    package init(_ value: AcquireTokenSilent?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            parameters: try fields.required("parameters", value?.parameters),
            account: try fields.account(value?.account),
            forceRefresh: fields.flag("force_refresh", value?.forceRefresh) ?? false,
            expirationBuffer: try Self.buffer(fields.number("expiration_buffer", value?.expirationBuffer)),
            allowsExtendedLifetime: fields.flag("allows_extended_lifetime", value?.allowsExtendedLifetime) ?? false)
    }

    /// A buffer beyond any token's life, or before now, is a mistake, and would overflow sums with the clock.
    private static func buffer(_ seconds: Int64?) throws(TokenError) -> Int64 {
        guard let seconds else { return 300 }
        guard (0...Int64(UInt32.max)).contains(seconds) else {
            throw TokenError(.malformedMessage, "expiration_buffer of \(seconds) seconds is out of range")
        }
        return seconds
    }
}
