internal import CTokenProtos
package import TokenModel

extension Unlock: WireRequest {
    package static let type = WireType(sso__unlock__init)

    package init(_ value: Unlock?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            passphrase: try fields.secret("passphrase", value?.passphrase))
    }
}
