internal import CTokenProtos
internal import TokenModel

extension ListCredentials {
    init(_ pointer: UnsafeMutablePointer<Sso__ListCredentials>?) throws(TokenError) {
        let message = try WireFields.needed("list_credentials", pointer).pointee
        let group = try WireFields.text("sharing_group", message.has_sharing_group, message.sharing_group)
        self.init(
            sharingGroup: try SharingGroup(wire: group),
            version: WireFields.choice(message.has_version, message.version.rawValue),
            after: try WireFields.text("after", message.has_after, message.after))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ListCredentials>? {
        guard let message = arena.message(sso__list_credentials__init) else { return nil }
        arena.put(sharingGroup.name, &message.pointee.has_sharing_group, &message.pointee.sharing_group)
        if let version { arena.put(version.wire, &message.pointee.has_version, &message.pointee.version) }
        arena.put(after, &message.pointee.has_after, &message.pointee.after)
        return message
    }
}

extension ListCredentials.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__ListCredentialsReply>?) throws(TokenError) {
        let message = try WireFields.needed("list_credentials", pointer).pointee
        var credentials: [Credential] = []
        for credential in try WireFields.messages("credentials", message.n_credentials, message.credentials) {
            credentials.append(try Credential(credential))
        }
        self.init(
            credentials: credentials, next: try WireFields.text("next", message.has_next, message.next))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__ListCredentialsReply>? {
        guard let message = arena.message(sso__list_credentials_reply__init) else { return nil }
        arena.put(
            credentials.map { $0.encode(arena) }, &message.pointee.n_credentials, &message.pointee.credentials)
        arena.put(next, &message.pointee.has_next, &message.pointee.next)
        return message
    }
}
