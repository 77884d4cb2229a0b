internal import CTokenProtos
package import TokenModel

extension SetKey: WireRequest {
    package static let type = WireType(sso__set_key__init)

    package init(_ value: SetKey?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            source: try WireFields.required("source", fields.choice("source", value?.source)),
            passphrase: try fields.secret("passphrase", value?.passphrase))
    }
}
