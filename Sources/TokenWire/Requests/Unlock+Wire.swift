internal import CTokenProtos
internal import TokenModel

extension Unlock {
    init(_ pointer: UnsafeMutablePointer<Sso__Unlock>?) throws(TokenError) {
        let message = try WireFields.needed("unlock", pointer).pointee
        self.init(passphrase: try WireFields.secret("passphrase", message.has_passphrase, message.passphrase))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__Unlock>? {
        guard let message = arena.message(sso__unlock__init) else { return nil }
        if let passphrase {
            arena.put(passphrase, &message.pointee.has_passphrase, &message.pointee.passphrase)
        }
        return message
    }
}
