internal import CTokenProtos
package import TokenModel

extension RedeemGrant: WireRequest {
    package static let type = WireType(sso__redeem_grant__init)

    package init(_ value: RedeemGrant?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            parameters: try fields.required("parameters", value?.parameters),
            // A guess would send a secret where it does not belong.
            kind: try fields.knownChoice("kind", value?.kind) ?? .refreshToken,
            grant: try WireFields.required(
                "grant", fields.secret("grant", value?.grant).flatMap { $0.isEmpty ? nil : $0 }),
            account: try fields.account(value?.account))
    }
}
