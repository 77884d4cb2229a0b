internal import CTokenProtos
internal import TokenModel

extension RemoveCredential {
    init(_ pointer: UnsafeMutablePointer<Sso__RemoveCredential>?) throws(TokenError) {
        let message = try WireFields.needed("remove_credential", pointer).pointee
        let group = try WireFields.text("sharing_group", message.has_sharing_group, message.sharing_group)
        let id = try WireFields.text("id", message.has_id, message.id)
        self.init(sharingGroup: try SharingGroup(wire: group), id: try WireFields.needed("id", id))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__RemoveCredential>? {
        guard let message = arena.message(sso__remove_credential__init) else { return nil }
        arena.put(sharingGroup.name, &message.pointee.has_sharing_group, &message.pointee.sharing_group)
        arena.put(id, &message.pointee.has_id, &message.pointee.id)
        return message
    }
}

extension RemoveCredential.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__RemoveCredentialReply>?) throws(TokenError) {
        let message = try WireFields.needed("remove_credential", pointer).pointee
        self.init(removed: WireFields.flag(message.has_removed, message.removed, default: false))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__RemoveCredentialReply>? {
        guard let message = arena.message(sso__remove_credential_reply__init) else { return nil }
        arena.put(removed, &message.pointee.has_removed, &message.pointee.removed)
        return message
    }
}
