internal import CTokenProtos
internal import TokenModel

extension Hello {
    init(_ pointer: UnsafeMutablePointer<Sso__Hello>?) throws(TokenError) {
        let message = try WireFields.needed("hello", pointer).pointee
        self.init(
            protocolVersion: WireFields.number(message.has_protocol_version, message.protocol_version) ?? 1,
            appName: try WireFields.text("app_name", message.has_app_name, message.app_name) ?? "")
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__Hello>? {
        guard let message = arena.message(sso__hello__init) else { return nil }
        arena.put(protocolVersion, &message.pointee.has_protocol_version, &message.pointee.protocol_version)
        arena.put(appName, &message.pointee.has_app_name, &message.pointee.app_name)
        return message
    }
}

extension Hello.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__HelloReply>?) throws(TokenError) {
        let message = try WireFields.needed("hello", pointer).pointee
        self.init(
            protocolVersion: WireFields.number(message.has_protocol_version, message.protocol_version) ?? 0,
            agentVersion: try WireFields.text("agent_version", message.has_agent_version, message.agent_version) ?? "",
            requests: try WireFields.numbers("requests", message.n_requests, message.requests))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__HelloReply>? {
        guard let message = arena.message(sso__hello_reply__init) else { return nil }
        arena.put(protocolVersion, &message.pointee.has_protocol_version, &message.pointee.protocol_version)
        arena.put(agentVersion, &message.pointee.has_agent_version, &message.pointee.agent_version)
        message.pointee.requests = arena.array(of: UInt32.self, count: requests.count)
        if let numbers = message.pointee.requests {
            for (index, number) in requests.enumerated() { numbers[index] = number }
            message.pointee.n_requests = requests.count
        }
        return message
    }
}
