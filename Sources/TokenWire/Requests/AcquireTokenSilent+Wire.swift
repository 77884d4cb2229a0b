internal import CTokenProtos
internal import TokenModel

extension AcquireTokenSilent {
    init(_ pointer: UnsafeMutablePointer<Sso__AcquireTokenSilent>?) throws(TokenError) {
        let message = try WireFields.needed("acquire_token_silent", pointer).pointee
        self.init(
            parameters: try TokenParameters(message.parameters),
            account: try AccountReference(message.account),
            forceRefresh: WireFields.flag(message.has_force_refresh, message.force_refresh, default: false),
            expirationBuffer: try Self.buffer(
                WireFields.number(message.has_expiration_buffer, message.expiration_buffer)),
            allowsExtendedLifetime: WireFields.flag(
                message.has_allows_extended_lifetime, message.allows_extended_lifetime, default: false))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__AcquireTokenSilent>? {
        guard let message = arena.message(sso__acquire_token_silent__init) else { return nil }
        message.pointee.parameters = parameters.encode(arena)
        message.pointee.account = account.encode(arena)
        arena.put(forceRefresh, &message.pointee.has_force_refresh, &message.pointee.force_refresh)
        arena.put(expirationBuffer, &message.pointee.has_expiration_buffer, &message.pointee.expiration_buffer)
        arena.put(
            allowsExtendedLifetime, &message.pointee.has_allows_extended_lifetime,
            &message.pointee.allows_extended_lifetime)
        return message
    }

    /// A buffer beyond any token's life, or before now, is a mistake, and would overflow sums with the clock.
    private static func buffer(_ seconds: Int64?) throws(TokenError) -> Int64 {
        guard let seconds else { return 300 }
        guard (0...Int64(UInt32.max)).contains(seconds) else {
            throw TokenError(.malformedMessage, "expiration_buffer of \(seconds) seconds is out of range")
        }
        return seconds
    }
}
