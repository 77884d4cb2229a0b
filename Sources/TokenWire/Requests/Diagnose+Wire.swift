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
