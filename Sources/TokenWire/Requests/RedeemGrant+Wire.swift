internal import CProtobufC
internal import CTokenProtos
internal import TokenModel

extension RedeemGrant {
    init(_ pointer: UnsafeMutablePointer<Sso__RedeemGrant>?) throws(TokenError) {
        let message = try WireFields.needed("redeem_grant", pointer).pointee
        let grant = try WireFields.secret("grant", message.has_grant, message.grant)
        self.init(
            parameters: try TokenParameters(message.parameters),
            kind: try Self.kind(message.has_kind, message.kind.rawValue),
            grant: try WireFields.needed("grant", grant.flatMap { $0.isEmpty ? nil : $0 }),
            account: try AccountReference(message.account))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__RedeemGrant>? {
        guard let message = arena.message(sso__redeem_grant__init) else { return nil }
        message.pointee.parameters = parameters.encode(arena)
        arena.put(
            Sso__GrantKind(rawValue: numericCast(kind.rawValue)), &message.pointee.has_kind, &message.pointee.kind)
        arena.put(grant, &message.pointee.has_grant, &message.pointee.grant)
        message.pointee.account = account.encode(arena)
        return message
    }

    /// A kind of a later version is refused: guessing would send a secret where it does not belong.
    private static func kind(_ has: protobuf_c_boolean, _ number: UInt32) throws(TokenError) -> Kind {
        guard has != 0 else { return .refreshToken }
        guard let kind: Kind = WireFields.choice(has, number) else {
            throw TokenError(.malformedMessage, "kind \(number) is not known")
        }
        return kind
    }
}
