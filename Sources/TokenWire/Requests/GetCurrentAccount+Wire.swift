internal import CTokenProtos
package import TokenModel

extension GetCurrentAccount: WireRequest {
    package static let type = WireType(sso__get_current_account__init)

    package init(_ value: GetCurrentAccount?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            clientID: try fields.required("client_id", value?.clientID),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup))
    }
}

extension GetCurrentAccount.Reply: WireMessage {
    package static let type = WireType(sso__get_current_account_reply__init)

    package init(_ value: GetCurrentAccount.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            account: try fields.message("account", value?.account),
            previous: try fields.message("previous", value?.previous))
    }
}
