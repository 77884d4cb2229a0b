internal import TokenModel

/// The checks of an ID token in a token response (OpenID Connect Core 1.0 sections 3.1.3.7 and 12.2), but for its signature: the
/// token came straight from the token endpoint over TLS.
///
/// | claim | OpenID providers | Microsoft's: Entra, B2C, AD FS, External ID |
/// |---|---|---|
/// | `iss` | the issuer of the discovery document | in Entra and External ID, the tenant in it is `tid`, which can be part of a URL; in B2C and AD FS, the issuer of the discovery document, if it names one |
/// | `aud` | contains the app | the same |
/// | `azp` | the app, if present or with several audiences | the app, with several audiences |
/// | `exp` | not past, with a tolerance of five minutes | the same |
/// | `nonce` | that of the authorization request, if it had one | the same |
/// | `sub` | present, and unchanged by a refresh | not checked: `client_info` identifies the account |
struct IDTokenValidation: Sendable {
    let request: TokenRequest
    /// The issuer that the discovery document of an OpenID provider, a B2C policy or an AD FS names; nil for Entra and External ID, and
    /// without a discovery document, as an AD FS of Windows Server 2012 R2 has none.
    let issuer: String?
    /// The present time by each known clock, in seconds since 1970: this machine's, and the provider's if the response
    /// has a `Date`. A machine's clock may be wrong by hours, so that a token is valid if it is valid by either.
    let times: [Int64]

    /// The defect for which an ID token must not be used, in words that follow "an ID token"; nil if there is none.
    func defect(of idToken: String) -> String? {
        guard idToken.utf8.count <= ValueLimits.idToken, let claims = Claims(idToken) else {
            return "that cannot be read"
        }
        guard hasIssuer(claims) else { return "of another issuer" }
        guard isForApp(claims) else { return "for another app" }
        guard isCurrent(claims) else { return "that has expired; check the clock of this machine" }
        guard request.nonce == nil || claims.text("nonce") == request.nonce else {
            return "of another sign-in: its nonce is not the one sent"
        }
        guard request.authority.kind == .openID else { return nil }
        guard let subject = claims.text("sub") else { return "that names no subject" }
        guard request.subject == nil || subject == request.subject else { return "of another subject than before" }
        return nil
    }

    /// Entra's issuers differ from their authorities by design: their host may be `sts.windows.net`, and they name the tenant
    /// by its ID. B2C's have the tenant's ID, and the policy if the policy's settings say so; the policy's document has the same.
    private func hasIssuer(_ claims: Claims) -> Bool {
        switch request.authority.kind {
        case .openID:
            guard let named = claims.text("iss") else { return false }
            return issuer.map { $0 == named } ?? request.authority.isIssuer(named)
        case .b2c: return issuer.map { $0 == claims.text("iss") } ?? namesTenantOfIssuer(claims)
        case .entra, .ciam: return namesTenantOfIssuer(claims)
        case .adfs: return issuer == nil || claims.text("iss") == issuer
        }
    }

    /// Whether the tenant, if the token names it, can be one, and is a segment of the issuer's path.
    private func namesTenantOfIssuer(_ claims: Claims) -> Bool {
        guard let tenant = claims.text("tid") else { return true }
        guard TenantName(tenant) != nil else { return false }
        guard let named = claims.text("iss") else { return true }
        return (try? URLParts(named))?.segments.contains { $0.lowercased() == tenant.lowercased() } ?? false
    }

    private func isForApp(_ claims: Claims) -> Bool {
        guard let audiences = claims.texts("aud"), audiences.contains(where: isApp) else { return false }
        if Set(audiences).count > 1 { return isAuthorizedParty(claims) }
        return request.authority.kind != .openID || !claims.contains("azp") || isAuthorizedParty(claims)
    }

    private func isAuthorizedParty(_ claims: Claims) -> Bool { claims.text("azp").map(isApp) ?? false }

    /// Whether a text is the app's identifier, in any case but without a blank more.
    private func isApp(_ text: String) -> Bool { text.inLowerCase.hasSameBytes(as: request.clientID.key) }

    private func isCurrent(_ claims: Claims) -> Bool {
        guard let expiry = claims.number("exp") else { return false }
        return times.contains { Double($0 - Self.tolerance) < expiry }
    }

    /// The tolerated difference of two clocks, in seconds.
    private static let tolerance: Int64 = 300
}

extension IDTokenValidation {
    /// The claims of an ID token that are checked. Each has one value: a reader that takes the first of two would believe another
    /// token than one that takes the last (RFC 7519 section 4).
    private struct Claims {
        private let values: [String: JSONTree]

        /// Returns nil unless the payload is one JSON object whose members have different names.
        init?(_ idToken: String) {
            guard let payload = IDTokenClaims.payload(ofJWT: idToken), let values = try? Self.read(Array(payload))
            else {
                return nil
            }
            self.values = values
        }

        private static func read(_ payload: [UInt8]) throws(TokenError) -> [String: JSONTree] {
            var names: Set<String> = []
            var values: [String: JSONTree] = [:]
            var reader = JSONReader(
                ByteFeed(payload), as: "an ID token", maximumValues: JSONReader.valuesOfMessage)
            try reader.eachMember { name, reader throws(TokenError) in
                guard names.insert(name).inserted else {
                    throw TokenError(.serverInvalidResponse, "a claim of the ID token occurs twice")
                }
                if checked.contains(name) { values[name] = try reader.value() } else { try reader.skip() }
            }
            try reader.finish()
            return values
        }

        private static let checked: Set = ["iss", "sub", "aud", "azp", "exp", "nonce", "tid"]

        /// Whether there is the claim; one that is `null` counts as absent.
        func contains(_ name: String) -> Bool { values[name].map { $0 != .null } ?? false }

        /// A string that is not blank; nil for any other value.
        func text(_ name: String) -> String? { values[name]?.string }

        /// A string, or a list of nothing but strings; nil for any other value.
        func texts(_ name: String) -> [String]? {
            switch values[name] {
            case .text(let text): return [text]
            case .list(let values):
                let texts = values.compactMap(\.string)
                return texts.count == values.count ? texts : nil
            default: return nil
            }
        }

        /// A JSON number; nil for any other value, among them digits in a string.
        func number(_ name: String) -> Double? {
            guard case .number(let digits) = values[name] else { return nil }
            return Double(digits)
        }
    }
}
