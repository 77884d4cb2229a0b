/// Which generation of Entra's endpoints a request goes to.
public enum OAuthVersion: Int32, Sendable, Hashable {
    /// `/oauth2/token`, with a resource: ADAL and AD FS.
    case v1 = 1
    /// `/oauth2/v2.0/token`, with scopes: MSAL.
    case v2 = 2
}
