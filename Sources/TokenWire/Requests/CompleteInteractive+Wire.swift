internal import CTokenProtos
internal import TokenModel

extension CompleteInteractive {
    init(_ pointer: UnsafeMutablePointer<Sso__CompleteInteractive>?) throws(TokenError) {
        let message = try WireFields.needed("complete_interactive", pointer).pointee
        self.init(
            sessionID: try WireFields.needed(
                "session_id", WireFields.text("session_id", message.has_session_id, message.session_id)),
            responseURL: try WireFields.text(
                "response_url", message.has_response_url, message.response_url, limit: WireLimits.longText))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__CompleteInteractive>? {
        guard let message = arena.message(sso__complete_interactive__init) else { return nil }
        arena.put(sessionID, &message.pointee.has_session_id, &message.pointee.session_id)
        arena.put(responseURL, &message.pointee.has_response_url, &message.pointee.response_url)
        return message
    }
}

extension CancelInteraction {
    init(_ pointer: UnsafeMutablePointer<Sso__CancelInteraction>?) throws(TokenError) {
        let message = try WireFields.needed("cancel_interaction", pointer).pointee
        self.init(
            sessionID: try WireFields.needed(
                "session_id", WireFields.text("session_id", message.has_session_id, message.session_id)))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__CancelInteraction>? {
        guard let message = arena.message(sso__cancel_interaction__init) else { return nil }
        arena.put(sessionID, &message.pointee.has_session_id, &message.pointee.session_id)
        return message
    }
}
