internal import CTokenProtos
internal import TokenModel

extension BeginDeviceCode {
    init(_ pointer: UnsafeMutablePointer<Sso__BeginDeviceCode>?) throws(TokenError) {
        let message = try WireFields.needed("begin_device_code", pointer).pointee
        self.init(
            parameters: try TokenParameters(message.parameters), account: try AccountReference(message.account))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__BeginDeviceCode>? {
        guard let message = arena.message(sso__begin_device_code__init) else { return nil }
        message.pointee.parameters = parameters.encode(arena)
        message.pointee.account = account.encode(arena)
        return message
    }
}

extension BeginDeviceCode.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__BeginDeviceCodeReply>?) throws(TokenError) {
        let message = try WireFields.needed("begin_device_code", pointer).pointee
        self.init(
            sessionID: try WireFields.needed(
                "session_id", WireFields.text("session_id", message.has_session_id, message.session_id)),
            userCode: try WireFields.text("user_code", message.has_user_code, message.user_code) ?? "",
            verificationURL: try WireFields.text(
                "verification_url", message.has_verification_url, message.verification_url) ?? "",
            message: try WireFields.text("message", message.has_message, message.message) ?? "",
            expiresIn: WireFields.number(message.has_expires_in, message.expires_in) ?? 0)
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__BeginDeviceCodeReply>? {
        guard let reply = arena.message(sso__begin_device_code_reply__init) else { return nil }
        arena.put(sessionID, &reply.pointee.has_session_id, &reply.pointee.session_id)
        arena.put(userCode, &reply.pointee.has_user_code, &reply.pointee.user_code)
        arena.put(verificationURL, &reply.pointee.has_verification_url, &reply.pointee.verification_url)
        arena.put(message, &reply.pointee.has_message, &reply.pointee.message)
        arena.put(expiresIn, &reply.pointee.has_expires_in, &reply.pointee.expires_in)
        return reply
    }
}

extension CompleteDeviceCode {
    init(_ pointer: UnsafeMutablePointer<Sso__CompleteDeviceCode>?) throws(TokenError) {
        let message = try WireFields.needed("complete_device_code", pointer).pointee
        self.init(
            sessionID: try WireFields.needed(
                "session_id", WireFields.text("session_id", message.has_session_id, message.session_id)))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__CompleteDeviceCode>? {
        guard let message = arena.message(sso__complete_device_code__init) else { return nil }
        arena.put(sessionID, &message.pointee.has_session_id, &message.pointee.session_id)
        return message
    }
}
