internal import Foundation
internal import NIOHTTP1

/// `POST …/devicecode`: begins a device code sign-in (RFC 8628).
struct DeviceCodeRoute: Sendable {
    let state: EmulatorState

    func respond(to request: EmulatorRequest) throws -> Response {
        try request.checkScopes()
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
        guard let userCode = request.parameters["code"] else { return Self.form.response() }
        let isDeclined = request.parameters["decline"] == "1"
        let decision: DeviceCode.Decision =
            isDeclined ? .declined : .approved(username: request.parameters["user"])
        let now = state.now
        let count = state.update { $0.ledger.decide(decision, userCode: userCode, now: now) }
        guard count > 0 else {
            let link = #"<a href="/devicelogin">Try another code</a>"#
            let content = "<p>That code is not known, or has expired. \(link)</p>"
            return Page(title: "Unknown code", content: content).response(status: .badRequest)
        }
        let title = isDeclined ? "You declined the sign-in" : "You are signed in on your other device"
        return Page(title: title, content: "<p>You can close this window.</p>").response()
    }

    private static let form = Page(
        title: "Enter code",
        content: """
            <p>The device on which you want to sign in shows the code.</p>
            <form method="get">
            <label for="code">Code</label>
            <input id="code" name="code" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" \
            required>
            <label for="user">Username</label>
            <input id="user" name="user" type="text" inputmode="email" autocomplete="off" autocapitalize="none" \
            spellcheck="false" placeholder="user@contoso.example">
            <button>Sign in</button>
            <button name="decline" value="1" class="quiet">Decline</button>
            </form>
            """)
}
