internal import CProtobufC
internal import CTokenProtos
internal import TokenModel

extension RemoveAccount {
    init(_ pointer: UnsafeMutablePointer<Sso__RemoveAccount>?) throws(TokenError) {
        let message = try WireFields.needed("remove_account", pointer).pointee
        let clientID = try WireFields.text("client_id", message.has_client_id, message.client_id)
        let group = try WireFields.text("sharing_group", message.has_sharing_group, message.sharing_group)
        self.init(
            clientID: try WireFields.needed("client_id", clientID.flatMap(ClientID.init)),
            sharingGroup: try SharingGroup(wire: group),
            account: try AccountReference(message.account),
            extent: try Self.extent(message.has_extent, message.extent.rawValue))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__RemoveAccount>? {
        guard let message = arena.message(sso__remove_account__init) else { return nil }
        arena.put(clientID.text, &message.pointee.has_client_id, &message.pointee.client_id)
        arena.put(sharingGroup.name, &message.pointee.has_sharing_group, &message.pointee.sharing_group)
        message.pointee.account = account.encode(arena)
        arena.put(
            Sso__RemovalExtent(rawValue: numericCast(extent.rawValue)), &message.pointee.has_extent,
            &message.pointee.extent)
        return message
    }

    /// An extent of a later version is refused: guessing would remove the wrong things.
    private static func extent(_ has: protobuf_c_boolean, _ number: UInt32) throws(TokenError) -> Extent {
        guard has != 0 else { return .app }
        guard let extent: Extent = WireFields.choice(has, number) else {
            throw TokenError(.malformedMessage, "extent \(number) is not known")
        }
        return extent
    }
}

extension RemoveAccount.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__RemoveAccountReply>?) throws(TokenError) {
        let message = try WireFields.needed("remove_account", pointer).pointee
        self.init(removed: WireFields.flag(message.has_removed, message.removed, default: false))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__RemoveAccountReply>? {
        guard let message = arena.message(sso__remove_account_reply__init) else { return nil }
        arena.put(removed, &message.pointee.has_removed, &message.pointee.removed)
        return message
    }
}
