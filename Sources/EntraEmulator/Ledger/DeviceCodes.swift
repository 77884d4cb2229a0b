internal import Foundation

/// An issued device code (RFC 8628).
struct DeviceCode: Sendable {
    enum Decision: Sendable, Equatable {
        case pending
        case approved(username: String?)
        case declined
        case redeemed
    }

    var userCode: String
    var clientID: String
    var realm: String
    var issuer: String
    var scopes: [String]
    var resource: String?
    var claims: ClaimsRequest
    var expiresOn: Date
    var polls = 0
    var decision = Decision.pending
}

extension Ledger {
    /// Begins a device code sign-in (RFC 8628 section 3.2).
    ///
    /// - Returns: the device code.
    mutating func issueDeviceCode(_ redemption: Redemption) throws(OAuthFailure) -> String {
        let scopes = try redemption.scopes(default: ["openid", "profile", "offline_access"])
        let secret = nextSecret("device code")
        let code = DeviceCode(
            userCode: nextUserCode(), clientID: redemption.clientID, realm: redemption.authority.realm,
            issuer: redemption.issuer, scopes: scopes, resource: redemption.parameters["resource"],
            claims: redemption.claims,
            expiresOn: redemption.now + TimeInterval(redemption.settings.deviceCodeLifetime))
        deviceCodes.issue(code, as: secret) { $0.decision == .redeemed || $0.decision == .declined }
        return secret
    }

    /// Answers a poll for a device code (RFC 8628 section 3.4).
    ///
    /// - Throws: `authorizationPending` until the user has decided.
    mutating func redeemDeviceCode(_ redemption: Redemption) throws(OAuthFailure) -> TokenDescriptor {
        // v1 of Entra calls the field `code`.
        let isV1 = redemption.version == .v1 && [.entra, .ciam].contains(redemption.authority.kind)
        let secret = try redemption.parameters.required(isV1 ? "code" : "device_code")
        // The names of these errors are Entra's own.
        let isStandard = redemption.authority.kind == .openID
        guard var code = deviceCodes[secret] else { throw isStandard ? .malformedGrant : .badDeviceCode }
        guard redemption.isOf(app: code.clientID) else { throw .wrongClient }
        guard code.issuer == redemption.issuer else { throw .wrongIssuer }
        guard redemption.now < code.expiresOn else { throw .expiredDeviceCode }
        code.polls += 1
        if code.decision == .pending, code.polls == redemption.settings.deviceCodeApprovedAtPoll {
            code.decision = .approved(username: nil)
        }
        deviceCodes[secret] = code
        switch code.decision {
        case .pending: throw .authorizationPending
        case .declined: throw isStandard ? .deviceAccessDenied : .authorizationDeclined
        case .redeemed: throw .codeAlreadyRedeemed
        case .approved(let username):
            let user = addUser(username ?? anyUsername(at: code.realm))
            guard !user.isDisabled else { throw .disabledUser }
            let tenantID = try tenantID(of: user, at: code.realm)
            let claims = try redemption.claims(ofSignIn: code.claims)
            deviceCodes[secret]?.decision = .redeemed
            return describeTokens(
                for: user, tenantID: tenantID, scopes: code.scopes,
                resource: redemption.parameters["resource"] ?? code.resource, nonce: nil, claims: claims,
                redemption: redemption)
        }
    }

    /// Approves or declines the device code with this user code or, with nil, every pending one. The user code counts without its
    /// blanks and in any case, as a person types it.
    ///
    /// - Returns: the number of device codes that were pending and had not expired.
    mutating func decide(_ decision: DeviceCode.Decision, userCode: String?, now: Date) -> Int {
        let typed = userCode.map { $0.filter { !$0.isWhitespace }.uppercased() }
        return deviceCodes.update { code in
            guard code.decision == .pending, now < code.expiresOn, (typed ?? code.userCode) == code.userCode else {
                return false
            }
            code.decision = decision
            return true
        }
    }

    private func anyUsername(at realm: String) -> String {
        candidates(at: realm).first?.username ?? directory.defaultUsername(realm: realm)
    }

    /// A user code of nine letters; letters that look like digits are not used.
    private mutating func nextUserCode() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ")
        return String(nextSecret("user code").utf8.prefix(9).map { alphabet[Int($0) % alphabet.count] })
    }
}
