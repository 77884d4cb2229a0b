internal import CTokenProtos
internal import TokenModel

extension GetCurrentAccount {
    init(_ pointer: UnsafeMutablePointer<Sso__GetCurrentAccount>?) throws(TokenError) {
        let message = try WireFields.needed("get_current_account", pointer).pointee
        let clientID = try WireFields.text("client_id", message.has_client_id, message.client_id)
        let group = try WireFields.text("sharing_group", message.has_sharing_group, message.sharing_group)
        self.init(
            clientID: try WireFields.needed("client_id", clientID.flatMap(ClientID.init)),
            sharingGroup: try SharingGroup(wire: group))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__GetCurrentAccount>? {
        guard let message = arena.message(sso__get_current_account__init) else { return nil }
        arena.put(clientID.text, &message.pointee.has_client_id, &message.pointee.client_id)
        arena.put(sharingGroup.name, &message.pointee.has_sharing_group, &message.pointee.sharing_group)
        return message
    }
}

extension GetCurrentAccount.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__GetCurrentAccountReply>?) throws(TokenError) {
        let message = try WireFields.needed("get_current_account", pointer).pointee
        self.init()
        if let pointer = message.account { account = try Account(pointer) }
        if let pointer = message.previous { previous = try Account(pointer) }
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__GetCurrentAccountReply>? {
        guard let message = arena.message(sso__get_current_account_reply__init) else { return nil }
        if let account { message.pointee.account = account.encode(arena) }
        if let previous { message.pointee.previous = previous.encode(arena) }
        return message
    }
}
