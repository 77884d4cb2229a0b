// What `print`, string interpolation, `dump` and debuggers show of values with tokens. An ID token has personal data, and some APIs accept
// it as a bearer token; it must not get into the log of an app that prints an account.

/// Stands for an ID token.
private func hidden(_ idToken: String?) -> String? { idToken.map { _ in "(hidden)" } }

extension Account: CustomReflectable {
    /// The values, with `(hidden)` in place of the ID token.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "homeAccountID": homeAccountID as Any, "username": username as Any, "environment": environment,
            "source": source, "tenantProfiles": tenantProfiles, "homeIDToken": hidden(homeIDToken) as Any,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension TenantProfile: CustomReflectable {
    /// The values, with `(hidden)` in place of the ID token.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "realm": realm, "localAccountID": localAccountID as Any, "username": username as Any,
            "environment": environment, "isHome": isHome, "idToken": hidden(idToken) as Any,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension Credential: CustomReflectable {
    /// The values, with `(hidden)` in place of the ID token.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "id": id, "kind": kind, "clientID": clientID, "familyID": familyID as Any, "authority": authority,
            "version": version as Any, "scopes": scopes, "accessToken": accessToken as Any,
            "tokenType": tokenType as Any, "expiresOn": expiresOn as Any,
            "extendedExpiresOn": extendedExpiresOn as Any, "idToken": hidden(idToken) as Any, "account": account,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension TokenResult: CustomReflectable {
    /// The values, with `(hidden)` in place of the ID token.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "accessToken": accessToken, "tokenType": tokenType, "expiresOn": expiresOn,
            "extendedExpiresOn": extendedExpiresOn as Any, "scopes": scopes, "idToken": hidden(idToken) as Any,
            "account": account, "tenantProfile": tenantProfile as Any, "authority": authority,
            "correlationID": correlationID, "isFromCache": isFromCache, "isExtendedLifetime": isExtendedLifetime,
            "familyID": familyID as Any, "hasMultiResourceRefreshToken": hasMultiResourceRefreshToken,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
