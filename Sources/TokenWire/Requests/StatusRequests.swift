internal import CTokenProtos
package import TokenModel

extension Diagnose: WireRequest {
    package static let type = WireType(sso__diagnose__init)

    package init(_ value: Diagnose?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            authority: try fields.message("authority", value?.authority))
    }
}

extension Diagnose.Reply: WireMessage {
    package static let type = WireType(sso__diagnose_reply__init)

    package init(_ value: Diagnose.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            checks: try fields.messages("checks", value?.checks))
    }
}

extension HealthCheck: WireMessage {
    package static let type = WireType(sso__health_check__init)

    package init(_ value: HealthCheck?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            name: try fields.text("name", value?.name) ?? "",
            ok: fields.flag("ok", value?.ok) ?? false,
            detail: try fields.wording("detail", value?.detail) ?? "",
            hint: try fields.wording("hint", value?.hint))
    }
}

extension GetStatus: WireRequest {
    package static let type = WireType(sso__get_status__init)

    package init(_ value: GetStatus?, _ fields: inout WireFields) throws(TokenError) {
        self.init(includesMetrics: fields.wish("includes_metrics", value?.includesMetrics))
    }
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
            storeProblem: try fields.wording("store_problem", value?.storeProblem, limit: WireLimits.longText),
            publishedSockets: try fields.wordings("published_sockets", value?.publishedSockets),
            metrics: try fields.messages("metrics", value?.metrics),
            nextCommand: try fields.wording("next_command", value?.nextCommand))
    }
}

extension Hello: WireRequest {
    package static let type = WireType(sso__hello__init)

    package init(_ value: Hello?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            protocolVersion: fields.number("protocol_version", value?.protocolVersion) ?? 1,
            appName: try fields.text("app_name", value?.appName) ?? "")
        acceptsPage = fields.wish("accepts_page", value?.acceptsPage)
    }
}

extension Hello.Reply: WireMessage {
    package static let type = WireType(sso__hello_reply__init)

    package init(_ value: Hello.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            protocolVersion: fields.number("protocol_version", value?.protocolVersion) ?? 0,
            agentVersion: try fields.text("agent_version", value?.agentVersion) ?? "",
            requests: try fields.numbers("requests", value?.requests))
    }
}

extension ReloadConfiguration: WireRequest {
    package static let type = WireType(sso__reload_configuration__init)

    package init(_ value: ReloadConfiguration?, _ fields: inout WireFields) throws(TokenError) { self.init() }
}

extension ReloadConfiguration.Reply: WireMessage {
    package static let type = WireType(sso__reload_configuration_reply__init)

    package init(_ value: ReloadConfiguration.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            files: try fields.wordings("files", value?.files),
            applied: try fields.wordings("applied", value?.applied),
            awaitingRestart: try fields.wordings("awaiting_restart", value?.awaitingRestart))
    }
}

extension AgentMetric: WireMessage {
    package static let type = WireType(sso__metric__init)

    package init(_ value: AgentMetric?, _ fields: inout WireFields) throws(TokenError) {
        let name = try fields.required("name", value?.name)
        let kind = try fields.choice("metric_kind", value?.kind.map(WireKind.init))?.kind
        let labels = try fields.pairs("labels", value?.labels)
        let number = fields.number("number", value?.value) ?? 0
        let sum = fields.number("sum", value?.durations?.sum)
        let bounds = try fields.numbers("bounds", value?.durations?.bounds)
        let counts = try fields.numbers("counts", value?.durations?.counts)
        guard bounds.count == counts.count else {
            throw TokenError(.malformedMessage, "counts has \(counts.count) items for \(bounds.count) bounds")
        }
        self.init(
            name, kind, labels: labels, value: number,
            durations: sum.map { Durations(sum: $0, bounds: bounds, counts: counts) })
    }

    private enum WireKind: Int32 {
        case counter = 1
        case gauge = 2
        case histogram = 3

        init(_ kind: Kind) {
            self =
                switch kind {
                case .counter: .counter
                case .gauge: .gauge
                case .histogram: .histogram
                }
        }

        var kind: Kind {
            switch self {
            case .counter: .counter
            case .gauge: .gauge
            case .histogram: .histogram
            }
        }
    }
}
