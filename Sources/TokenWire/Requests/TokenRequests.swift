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
        wantsFreshness = fields.wish("wants_freshness", value?.wantsFreshness)
        acceptsSingleIDToken = fields.wish("accepts_single_id_token", value?.acceptsSingleIDToken)
    }

    /// Checks the expiration buffer: a negative or huge one is a mistake, and could overflow additions to the clock.
    private static func buffer(_ seconds: Int64?) throws(TokenError) -> Int64 {
        guard let seconds else { return 300 }
        guard (0...Int64(UInt32.max)).contains(seconds) else {
            throw TokenError(.malformedMessage, "expiration_buffer of \(seconds) seconds is out of range")
        }
        return seconds
    }
}

extension RedeemGrant: WireRequest {
    package static let type = WireType(sso__redeem_grant__init)

    package init(_ value: RedeemGrant?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            parameters: try fields.required("parameters", value?.parameters),
            kind: try fields.choice("kind", value?.kind) ?? .refreshToken,
            grant: try WireFields.required(
                "grant", fields.secret("grant", value?.grant).flatMap { $0.isEmpty ? nil : $0 }),
            account: try fields.account(value?.account))
    }
}
