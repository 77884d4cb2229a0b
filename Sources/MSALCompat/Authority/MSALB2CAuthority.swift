public import Foundation
internal import TokenModel

/// An authority of Azure AD B2C: one for each policy, such as
/// `https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_signin`.
///
/// Hosts that are not Microsoft's own have to be in `knownAuthorities`.
open class MSALB2CAuthority: MSALAuthority {
    /// The authority at `url`; the query is dropped.
    ///
    /// - Throws: `MSALError.internal` (-50000) when `url` is not `https` (`http` is taken for loopback hosts) or has
    ///   no path.
    public init(url: URL) throws {
        let parsed = try MSALAuthority.authority(parsing: url, kind: .b2c)
        guard !parsed.path.isEmpty else {
            throw MSALError.error(.internalErrorInvalidParameter, "\(url) names no tenant and policy")
        }
        super.init(authority: parsed)
    }

    override init(authority: Authority, writtenTenant tenant: String? = nil) {
        super.init(authority: authority, writtenTenant: tenant)
    }
}
