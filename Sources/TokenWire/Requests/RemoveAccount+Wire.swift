internal import CTokenProtos
package import TokenModel

extension RemoveAccount: WireRequest {
    package static let type = WireType(sso__remove_account__init)

    package init(_ value: RemoveAccount?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            clientID: try fields.required("client_id", value?.clientID),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            account: try fields.account(value?.account),
            // A guess would remove the wrong things.
            extent: try fields.knownChoice("extent", value?.extent) ?? .app)
    }
}

extension RemoveAccount.Reply: WireMessage {
    package static let type = WireType(sso__remove_account_reply__init)

    package init(_ value: RemoveAccount.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            removed: fields.flag("removed", value?.removed) ?? false)
    }
}
