/// What scopes mean to the token endpoint.
enum ScopeRules {
    static let graph = "https://graph.microsoft.com"

    /// Scopes of OpenID Connect, which belong to no resource.
    private static let protocolScopes: Set = ["openid", "profile", "email", "offline_access", "address", "phone"]

    /// The resources the scopes belong to: what stands before the last slash, or Microsoft Graph; an app that names itself
    /// is its own resource.
    static func resources(of scopes: [String], of clientID: String? = nil) -> Set<String> {
        Set(
            scopes.filter { !protocolScopes.contains($0.lowercased()) }.map { scope in
                scope == clientID ? scope : scope.lastIndex(of: "/").map { String(scope[..<$0]) } ?? graph
            })
    }

    /// What the reply says was granted. `offline_access` shows in the refresh token only.
    static func granted(_ scopes: [String], declined: [String]) -> [String] {
        let refused = Set((declined + ["offline_access"]).map { $0.lowercased() })
        return scopes.filter { !refused.contains($0.lowercased()) }
    }

    /// The permissions an access token names, without their resource.
    static func permissions(_ scopes: [String]) -> [String] {
        scopes.map { scope in
            let name = scope.split(separator: "/").last.map(String.init) ?? scope
            return name == ".default" ? "user_impersonation" : name
        }
    }
}
