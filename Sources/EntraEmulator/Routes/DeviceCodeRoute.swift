internal import Foundation

/// `POST …/devicecode`: starts a sign-in that goes on at another device (RFC 8628).
struct DeviceCodeRoute: Sendable {
    let state: EmulatorState

    func respond(to request: EmulatorRequest) throws -> Response {
        let now = state.now
        let (secret, code, settings) = try state.update { (contents) throws(OAuthFailure) in
            let redemption = try Redemption(
                request, settings: contents.settings, directory: contents.ledger.directory, now: now)
            let secret = try contents.ledger.issueDeviceCode(redemption)
            return (secret, contents.ledger.deviceCodes[secret], contents.settings)
        }
        let userCode = code?.userCode ?? ""
        let page = "\(request.baseURL)/devicelogin"
        let message =
            "To sign in, use a web browser to open the page \(page) and enter the code \(userCode) to authenticate."
        // v1 calls the page by another name, and writes its numbers as text.
        let isV1 = request.address.version == .v1 && request.authority.kind != .adfs
        let body: JSON = [
            "user_code": .string(userCode),
            "device_code": .string(secret),
            isV1 ? "verification_url" : "verification_uri": .string(page),
            "expires_in": isV1 ? "\(settings.deviceCodeLifetime)" : .number(settings.deviceCodeLifetime),
            "interval": isV1 ? "\(settings.deviceCodeInterval)" : .number(settings.deviceCodeInterval),
            "message": .string(message),
        ]
        return try .json(body)
    }
}
