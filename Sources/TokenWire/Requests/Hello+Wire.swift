internal import CTokenProtos
package import TokenModel

extension Hello: WireRequest {
    package static let type = WireType(sso__hello__init)

    package init(_ value: Hello?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            protocolVersion: fields.number("protocol_version", value?.protocolVersion) ?? 1,
            appName: try fields.text("app_name", value?.appName) ?? "")
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
