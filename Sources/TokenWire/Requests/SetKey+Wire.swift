internal import CTokenProtos
internal import TokenModel

extension SetKey {
    init(_ pointer: UnsafeMutablePointer<Sso__SetKey>?) throws(TokenError) {
        let message = try WireFields.needed("set_key", pointer).pointee
        self.init(
            source: try WireFields.needed("source", WireFields.choice(message.has_source, message.source.rawValue)),
            passphrase: try WireFields.secret("passphrase", message.has_passphrase, message.passphrase))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__SetKey>? {
        guard let message = arena.message(sso__set_key__init) else { return nil }
        arena.put(source.wire, &message.pointee.has_source, &message.pointee.source)
        if let passphrase {
            arena.put(passphrase, &message.pointee.has_passphrase, &message.pointee.passphrase)
        }
        return message
    }
}
