internal import Foundation
internal import NIOHTTP1

/// `POST …/devicecode`: begins a device code sign-in (RFC 8628).
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
        // v1 has another name for the page, and encodes numbers as strings.
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

/// `GET /devicelogin`: the page on which the user enters the code. `?code=…&user=…` approves it, `&decline=1` declines it.
struct DeviceLoginRoute: Sendable {
    let state: EmulatorState

    func respond(to request: EmulatorRequest) -> Response {
        guard let userCode = request.parameters["code"] else { return .html(Self.form) }
        let isDeclined = request.parameters["decline"] == "1"
        let decision: DeviceCode.Decision =
            isDeclined ? .declined : .approved(username: request.parameters["user"])
        let count = state.update { $0.ledger.decide(decision, userCode: userCode) }
        guard count > 0 else {
            return .html("<!doctype html><title>Unknown code</title><p>That code did not work.", status: .badRequest)
        }
        return .html("<!doctype html><title>Done</title><p>You may close this window.")
    }

    private static let form = """
        <!doctype html><title>Enter code</title>
        <form method="get">
        <label>Code <input name="code"></label>
        <label>Username <input name="user"></label>
        <button>Next</button>
        </form>
        """
}
