internal import CTokenProtos
internal import TokenModel

extension Authority {
    /// Nil when the field is absent.
    init?(_ pointer: UnsafeMutablePointer<Sso__Authority>?) throws(TokenError) {
        guard let message = pointer?.pointee else { return nil }
        let url = try WireFields.text("authority", message.has_url, message.url)
        try self.init(
            try WireFields.needed("authority", url), kind: WireFields.choice(message.has_kind, message.kind.rawValue))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__Authority>? {
        guard let message = arena.message(sso__authority__init) else { return nil }
        arena.put(url, &message.pointee.has_url, &message.pointee.url)
        arena.put(
            Sso__AuthorityKind(rawValue: numericCast(kind.rawValue)), &message.pointee.has_kind, &message.pointee.kind)
        return message
    }
}
