internal import Foundation

extension Ledger {
    /// Starts a device code sign-in (RFC 8628 section 3.2) and returns the device code's secret.
    mutating func issueDeviceCode(_ redemption: Redemption) throws(OAuthFailure) -> String {
        let scopes = try redemption.scopes(default: ["openid", "profile", "offline_access"])
        let secret = nextSecret("device code")
        deviceCodes[secret] = DeviceCode(
            userCode: nextUserCode(), clientID: redemption.clientID, realm: redemption.authority.realm,
            scopes: scopes, resource: redemption.parameters["resource"],
            expiresOn: redemption.now + TimeInterval(redemption.settings.deviceCodeLifetime))
        return secret
    }

    /// One poll (RFC 8628 section 3.4): tokens, or why there are none yet.
    mutating func redeemDeviceCode(_ redemption: Redemption) throws(OAuthFailure) -> TokenOrder {
        // v1 calls the field `code`.
        guard let secret = redemption.parameters["device_code"] ?? redemption.parameters["code"] else {
            throw .missingParameter("device_code")
        }
        guard var code = deviceCodes[secret] else { throw .badDeviceCode }
        guard code.clientID == redemption.clientID else { throw .wrongClient }
        guard redemption.now < code.expiresOn else { throw .expiredDeviceCode }
        code.polls += 1
        if code.decision == .pending, code.polls == redemption.settings.deviceCodeApprovedAtPoll {
            code.decision = .approved(username: nil)
        }
        deviceCodes[secret] = code
        switch code.decision {
        case .pending: throw .authorizationPending
        case .declined: throw .authorizationDeclined
        case .redeemed: throw .codeAlreadyRedeemed
        case .approved(let username):
            let user = addUser(username ?? anyUsername(at: code.realm))
            let tenantID = try tenantID(of: user, at: code.realm)
            deviceCodes[secret]?.decision = .redeemed
            return order(
                for: user, tenantID: tenantID, scopes: code.scopes,
                resource: redemption.parameters["resource"] ?? code.resource, nonce: nil, redemption: redemption)
        }
    }

    /// Settles the sign-in with this user code, or every pending one; returns how many there were.
    mutating func decide(_ decision: DeviceCode.Decision, userCode: String?) -> Int {
        var count = 0
        for (secret, code) in deviceCodes
        where code.decision == .pending && (userCode.map { $0.uppercased() == code.userCode } ?? true) {
            deviceCodes[secret]?.decision = decision
            count += 1
        }
        return count
    }

    private func anyUsername(at realm: String) -> String {
        candidates(at: realm).first?.username ?? directory.defaultUsername(realm: realm)
    }

    /// Nine characters, none of which reads like another.
    private mutating func nextUserCode() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ")
        return String(nextSecret("user code").utf8.prefix(9).map { alphabet[Int($0) % alphabet.count] })
    }
}
