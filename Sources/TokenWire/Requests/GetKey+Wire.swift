internal import CTokenProtos
internal import TokenModel

extension GetKey {
    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__GetKey>? {
        arena.message(sso__get_key__init)
    }
}

extension KeyStatus {
    init(_ pointer: UnsafeMutablePointer<Sso__KeyStatus>?) throws(TokenError) {
        let message = try WireFields.needed("key_status", pointer).pointee
        self.init(
            source: WireFields.choice(message.has_source, message.source.rawValue),
            place: try WireFields.text("place", message.has_place, message.place) ?? "",
            isOpen: WireFields.flag(message.has_is_open, message.is_open, default: false),
            problem: try WireFields.text("problem", message.has_problem, message.problem, limit: WireLimits.longText))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__KeyStatus>? {
        guard let message = arena.message(sso__key_status__init) else { return nil }
        if let source { arena.put(source.wire, &message.pointee.has_source, &message.pointee.source) }
        arena.put(place, &message.pointee.has_place, &message.pointee.place)
        arena.put(isOpen, &message.pointee.has_is_open, &message.pointee.is_open)
        arena.put(problem, &message.pointee.has_problem, &message.pointee.problem)
        return message
    }
}

extension KeySource {
    var wire: Sso__KeySource { Sso__KeySource(rawValue: numericCast(rawValue)) }
}
