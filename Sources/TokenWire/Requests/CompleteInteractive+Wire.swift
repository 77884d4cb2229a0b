internal import CTokenProtos
package import TokenModel

extension CompleteInteractive: WireRequest {
    package static let type = WireType(sso__complete_interactive__init)

    package init(_ value: CompleteInteractive?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID),
            responseURL: try fields.text("response_url", value?.responseURL, limit: WireLimits.longText))
    }
}

extension CancelInteraction: WireRequest {
    package static let type = WireType(sso__cancel_interaction__init)

    package init(_ value: CancelInteraction?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID))
    }
}

extension CancelInteraction.Reply: WireMessage {
    package static let type = WireType(sso__cancel_interaction_reply__init)

    package init(_ value: CancelInteraction.Reply?, _ fields: inout WireFields) throws(TokenError) { self.init() }
}
