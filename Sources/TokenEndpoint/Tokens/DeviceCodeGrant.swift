package import TokenModel

/// What to show the user, and what to poll with (RFC 8628 section 3.2).
package struct DeviceCodeGrant: Sendable {
    /// Redeems for tokens once the user has typed in the code.
    package var deviceCode: Secret
    /// What the user types in.
    package var userCode: String
    /// Where the user types it in.
    package var verificationURL: String
    /// One sentence that tells the user what to do, free of control characters.
    package var message: String
    /// For how many seconds the code is good.
    package var expiresIn: Int64
    /// How many seconds to wait between two polls.
    package var interval: Int64

    package init(
        deviceCode: Secret, userCode: String, verificationURL: String, message: String, expiresIn: Int64,
        interval: Int64
    ) {
        self.deviceCode = deviceCode
        self.userCode = userCode
        self.verificationURL = verificationURL
        self.message = message
        self.expiresIn = expiresIn
        self.interval = interval
    }

    init(_ response: HTTPResponse) throws(TokenError) {
        let object = try response.oauthObject()
        guard let deviceCode = object.text("device_code"), let userCode = object.text("user_code"),
            let url = object.text("verification_uri") ?? object.text("verification_url")
        else { throw response.invalid("holds no device code") }
        let shownCode = UntrustedText.clean(userCode)
        let shownURL = UntrustedText.clean(url)
        self.init(
            deviceCode: Secret(deviceCode), userCode: shownCode, verificationURL: shownURL,
            message: UntrustedText.clean(
                object.text("message") ?? "To sign in, open \(shownURL) in a browser and enter the code \(shownCode)."),
            expiresIn: object.seconds("expires_in") ?? 900,
            // RFC 8628 section 3.5: five seconds unless told otherwise; never a busy loop.
            interval: max(object.seconds("interval") ?? 5, 1))
    }
}
