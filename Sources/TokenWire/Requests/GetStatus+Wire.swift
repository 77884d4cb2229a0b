internal import CTokenProtos
package import TokenModel

extension GetStatus: WireRequest {
    package static let type = WireType(sso__get_status__init)

    package init(_ value: GetStatus?, _ fields: inout WireFields) throws(TokenError) { self.init() }
}

extension AgentStatus: WireMessage {
    package static let type = WireType(sso__agent_status__init)

    package init(_ value: AgentStatus?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            processID: fields.number("process_id", value?.processID) ?? 0,
            version: try fields.text("version", value?.version) ?? "",
            protocolVersion: fields.number("protocol_version", value?.protocolVersion) ?? 0,
            socketPath: try fields.text("socket_path", value?.socketPath) ?? "",
            stateDirectory: try fields.text("state_directory", value?.stateDirectory) ?? "",
            uptimeSeconds: fields.number("uptime_seconds", value?.uptimeSeconds) ?? 0,
            accounts: fields.number("accounts", value?.accounts) ?? 0,
            quarantined: try fields.wordings("quarantined", value?.quarantined),
            storeProblem: try fields.wording("store_problem", value?.storeProblem, limit: WireLimits.longText))
    }
}
