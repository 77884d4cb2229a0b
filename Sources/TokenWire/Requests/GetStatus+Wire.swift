internal import CTokenProtos
internal import TokenModel

extension GetStatus {
    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__GetStatus>? {
        arena.message(sso__get_status__init)
    }
}

extension AgentStatus {
    init(_ pointer: UnsafeMutablePointer<Sso__AgentStatus>?) throws(TokenError) {
        let message = try WireFields.needed("get_status", pointer).pointee
        self.init(
            processID: WireFields.number(message.has_process_id, message.process_id) ?? 0,
            version: try WireFields.text("version", message.has_version, message.version) ?? "",
            protocolVersion: WireFields.number(message.has_protocol_version, message.protocol_version) ?? 0,
            socketPath: try WireFields.text("socket_path", message.has_socket_path, message.socket_path) ?? "",
            stateDirectory: try WireFields.text(
                "state_directory", message.has_state_directory, message.state_directory) ?? "",
            uptimeSeconds: WireFields.number(message.has_uptime_seconds, message.uptime_seconds) ?? 0,
            accounts: WireFields.number(message.has_accounts, message.accounts) ?? 0,
            quarantined: try WireFields.texts("quarantined", message.n_quarantined, message.quarantined),
            storeProblem: try WireFields.text(
                "store_problem", message.has_store_problem, message.store_problem, limit: WireLimits.longText))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__AgentStatus>? {
        guard let message = arena.message(sso__agent_status__init) else { return nil }
        arena.put(processID, &message.pointee.has_process_id, &message.pointee.process_id)
        arena.put(version, &message.pointee.has_version, &message.pointee.version)
        arena.put(protocolVersion, &message.pointee.has_protocol_version, &message.pointee.protocol_version)
        arena.put(socketPath, &message.pointee.has_socket_path, &message.pointee.socket_path)
        arena.put(stateDirectory, &message.pointee.has_state_directory, &message.pointee.state_directory)
        arena.put(uptimeSeconds, &message.pointee.has_uptime_seconds, &message.pointee.uptime_seconds)
        arena.put(accounts, &message.pointee.has_accounts, &message.pointee.accounts)
        arena.put(cut: quarantined, &message.pointee.n_quarantined, &message.pointee.quarantined)
        arena.put(cut: storeProblem, &message.pointee.has_store_problem, &message.pointee.store_problem)
        return message
    }
}
