internal import CTokenProtos
package import TokenModel

extension RemoveCredential: WireRequest {
    package static let type = WireType(sso__remove_credential__init)

    package init(_ value: RemoveCredential?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            id: try fields.required("id", value?.id))
    }
}

extension RemoveCredential.Reply: WireMessage {
    package static let type = WireType(sso__remove_credential_reply__init)

    package init(_ value: RemoveCredential.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            removed: fields.flag("removed", value?.removed) ?? false)
    }
}
