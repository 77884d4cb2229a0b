internal import CTokenProtos
internal import TokenModel

extension ListAccounts {
    init(_ pointer: UnsafeMutablePointer<Sso__ListAccounts>?) throws(TokenError) {
        let message = try WireFields.needed("list_accounts", pointer).pointee
        let group = try WireFields.text("sharing_group", message.has_sharing_group, message.sharing_group)
        self.init(
            clientID: try WireFields.text("client_id", message.has_client_id, message.client_id)
                .flatMap(ClientID.init),
            sharingGroup: try SharingGroup(wire: group),
            homeAccountID: try WireFields.text(
                "home_account_id", message.has_home_account_id, message.home_account_id
            ).flatMap(HomeAccountID.init),
            username: try WireFields.text("username", message.has_username, message.username),
            localAccountID: try WireFields.text(
                "local_account_id", message.has_local_account_id, message.local_account_id),
            onlySignedIn: WireFields.flag(message.has_only_signed_in, message.only_signed_in, default: true),
            after: try WireFields.text("after", message.has_after, message.after))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ListAccounts>? {
        guard let message = arena.message(sso__list_accounts__init) else { return nil }
        arena.put(clientID?.text, &message.pointee.has_client_id, &message.pointee.client_id)
        arena.put(sharingGroup.name, &message.pointee.has_sharing_group, &message.pointee.sharing_group)
        arena.put(homeAccountID?.text, &message.pointee.has_home_account_id, &message.pointee.home_account_id)
        arena.put(username, &message.pointee.has_username, &message.pointee.username)
        arena.put(localAccountID, &message.pointee.has_local_account_id, &message.pointee.local_account_id)
        arena.put(onlySignedIn, &message.pointee.has_only_signed_in, &message.pointee.only_signed_in)
        arena.put(after, &message.pointee.has_after, &message.pointee.after)
        return message
    }
}

extension ListAccounts.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__ListAccountsReply>?) throws(TokenError) {
        let message = try WireFields.needed("list_accounts", pointer).pointee
        var accounts: [Account] = []
        for account in try WireFields.messages("accounts", message.n_accounts, message.accounts) {
            accounts.append(try Account(account))
        }
        self.init(
            accounts: accounts, next: try WireFields.text("next", message.has_next, message.next))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ListAccountsReply>? {
        guard let message = arena.message(sso__list_accounts_reply__init) else { return nil }
        arena.put(accounts.map { $0.encode(arena) }, &message.pointee.n_accounts, &message.pointee.accounts)
        arena.put(next, &message.pointee.has_next, &message.pointee.next)
        return message
    }
}
