internal import CTokenProtos
package import TokenModel

extension GetKey: WireRequest {
    package static let type = WireType(sso__get_key__init)

    package init(_ value: GetKey?, _ fields: inout WireFields) throws(TokenError) { self.init() }
}

extension KeyStatus: WireMessage {
    package static let type = WireType(sso__key_status__init)

    package init(_ value: KeyStatus?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            source: try fields.choice("source", value?.source),
            place: try fields.text("place", value?.place) ?? "",
            isOpen: fields.flag("is_open", value?.isOpen) ?? false,
            problem: try fields.text("problem", value?.problem, limit: WireLimits.longText),
            nextCommand: try fields.wording("next_command", value?.nextCommand))
    }
}

extension SetKey: WireRequest {
    package static let type = WireType(sso__set_key__init)

    package init(_ value: SetKey?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            source: try WireFields.required("source", fields.choice("source", value?.source)),
            passphrase: try fields.secret("passphrase", value?.passphrase),
            currentPassphrase: try fields.secret("current_passphrase", value?.currentPassphrase))
    }
}

extension Unlock: WireRequest {
    package static let type = WireType(sso__unlock__init)

    package init(_ value: Unlock?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            passphrase: try fields.secret("passphrase", value?.passphrase))
    }
}

extension Lock: WireRequest {
    package static let type = WireType(sso__lock__init)

    package init(_ value: Lock?, _ fields: inout WireFields) throws(TokenError) { self.init() }
}
