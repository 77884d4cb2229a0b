internal import CTokenProtos
package import TokenModel

extension BeginDeviceCode: WireRequest {
    package static let type = WireType(sso__begin_device_code__init)

    package init(_ value: BeginDeviceCode?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            parameters: try fields.required("parameters", value?.parameters),
            account: try fields.account(value?.account))
    }
}

extension BeginDeviceCode.Reply: WireMessage {
    package static let type = WireType(sso__begin_device_code_reply__init)

    package init(_ value: BeginDeviceCode.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID),
            userCode: try fields.text("user_code", value?.userCode) ?? "",
            verificationURL: try fields.text("verification_url", value?.verificationURL) ?? "",
            message: try fields.text("message", value?.message) ?? "",
            expiresIn: fields.number("expires_in", value?.expiresIn) ?? 0)
    }
}

extension CompleteDeviceCode: WireRequest {
    package static let type = WireType(sso__complete_device_code__init)

    package init(_ value: CompleteDeviceCode?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID))
    }
}
