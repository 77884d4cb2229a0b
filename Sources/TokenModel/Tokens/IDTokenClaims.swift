#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The claims of an ID token that the cache and the compatibility libraries use.
///
/// The signature is not checked: the token came straight from the token endpoint over TLS
/// (OpenID Connect Core 1.0 section 3.1.3.7, item 6).
package struct IDTokenClaims: Sendable, Equatable {
    /// The `ver` claim of Microsoft's tokens; nil also if it is not a string: other providers have a claim of that name, too, such as the
    /// number 1.
    package var version: String?
    /// The `tid` claim; nil also if it cannot be a tenant in a URL.
    package var tenantID: String?
    package var objectID: String?
    package var subject: String?
    package var preferredUsername: String?
    package var upn: String?
    package var email: String?
    package var uniqueName: String?
    package var alternativeSecurityID: String?
    package var name: String?
    package var givenName: String?
    package var familyName: String?
    package var issuer: String?

    /// Decodes the claims of a compact JWS; nil if its payload is not a JSON object, or one of these claims but `ver` is not a string. Of
    /// several claims with one name, the last counts (RFC 7519 section 4).
    package init?(idToken: String) {
        guard let payload = Self.payload(ofJWT: idToken),
            let claims = try? JSONReader.read(Array(payload), maximumValues: JSONReader.valuesOfMessage),
            claims.isObject
        else { return nil }
        var areStrings = true
        func claim(_ name: String) -> String? {
            switch claims[name] {
            case .text(let text): return text
            case nil, .null: return nil
            case .bool, .number, .list, .object:
                areStrings = false
                return nil
            }
        }
        version = if case .text(let text) = claims["ver"] { text } else { nil }
        tenantID = claim("tid").flatMap { TenantName($0) }?.text
        objectID = claim("oid")
        subject = claim("sub")
        preferredUsername = claim("preferred_username")
        upn = claim("upn")
        email = claim("email")
        uniqueName = claim("unique_name")
        alternativeSecurityID = claim("altsecid")
        name = claim("name")
        givenName = claim("given_name")
        familyName = claim("family_name")
        issuer = claim("iss")
        guard areStrings else { return nil }
    }

    /// The payload of a compact JWS (RFC 7515 section 3.1) as JSON. Old ID tokens may consist of the payload alone.
    package static func payload(ofJWT token: String) -> Data? {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard let part = parts.count > 1 ? parts[1] : parts.first else { return nil }
        return Base64URL.decode(Substring(part))
    }

    /// The identifier of the account in one tenant: `oid`, else `sub`, in lower case.
    package var localAccountID: String? {
        (objectID?.trimmedNonEmpty ?? subject?.trimmedNonEmpty)?.lowercased()
    }

    /// The username of a v2 sign-in: `preferred_username`, else `sub`, in the issuer's case.
    package var v2Username: String? {
        preferredUsername?.trimmedNonEmpty ?? subject?.trimmedNonEmpty
    }

    /// The username that ADAL uses: the first of `upn`, `email`, `sub`, `oid`, `unique_name`, `altsecid`, in lower case.
    package var v1UserID: String? {
        [upn, email, subject, objectID, uniqueName, alternativeSecurityID].lazy
            .compactMap { $0?.trimmedNonEmpty }.first?.lowercased()
    }

    /// The user ID that ADAL gives its apps, in lower case, by the rules of the endpoint that issued the token, which `ver` names.
    package var adalUserID: String? {
        switch version {
        case "1.0": v1UserID
        case "2.0": v2Username?.lowercased()
        default: hasV1Name ? v1UserID : subject?.trimmedNonEmpty?.lowercased()
        }
    }

    /// The username by the rules of the endpoint that issued the token, which `ver` names.
    package var username: String? {
        switch version {
        case "2.0": v2Username
        case "1.0": v1UserID
        default: hasV1Name ? v1UserID : v2Username
        }
    }

    private var hasV1Name: Bool { upn?.trimmedNonEmpty != nil || uniqueName?.trimmedNonEmpty != nil }
}
