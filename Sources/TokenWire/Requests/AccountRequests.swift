internal import CTokenProtos
package import TokenModel

extension ListAccounts: WireRequest {
    package static let type = WireType(sso__list_accounts__init)

    package init(_ value: ListAccounts?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            clientID: try fields.text("client_id", value?.clientID),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            homeAccountID: try fields.text("home_account_id", value?.homeAccountID),
            username: try fields.text("username", value?.username),
            localAccountID: try fields.text("local_account_id", value?.localAccountID),
            onlySignedIn: fields.flag("only_signed_in", value?.onlySignedIn) ?? true,
            after: try fields.text("after", value?.after))
    }
}

extension ListAccounts.Reply: WirePage {
    package static let type = WireType(sso__list_accounts_reply__init)

    package init(_ value: ListAccounts.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            accounts: try fields.messages("accounts", value?.accounts),
            next: try fields.text("next", value?.next))
    }
}

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

extension RemoveAccount: WireRequest {
    package static let type = WireType(sso__remove_account__init)

    package init(_ value: RemoveAccount?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            clientID: try fields.required("client_id", value?.clientID),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            account: try fields.account(value?.account),
            extent: try fields.choice("extent", value?.extent) ?? .app,
            environment: try fields.text("environment", value?.environment),
            wantsSignOutPages: fields.wish("wants_sign_out_pages", value?.wantsSignOutPages))
    }
}

extension RemoveAccount.Reply: WireMessage {
    package static let type = WireType(sso__remove_account_reply__init)

    package init(_ value: RemoveAccount.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            removed: fields.flag("removed", value?.removed) ?? false,
            signOutPages: try fields.texts("sign_out_pages", value?.signOutPages))
    }
}
