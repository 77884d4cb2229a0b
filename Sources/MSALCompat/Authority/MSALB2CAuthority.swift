public import Foundation
internal import TokenModel

/// An authority of Azure AD B2C, one for each policy, such as
/// `https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_signin`.
///
/// Authorities on other hosts than those of Microsoft have to be among `knownAuthorities`.
open class MSALB2CAuthority: MSALAuthority {
    /// Creates the authority at `url`; the query is dropped.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42000, if `url` is not `https` (`http` is accepted for
    ///   loopback hosts) or has no path.
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

/// An authority of Entra External ID for customers, such as `https://contoso.ciamlogin.com`, or of a custom domain,
/// such as `https://login.contoso.com/<tenant>`.
///
/// On `ciamlogin.com`, a URL without a path means the tenant `<first label of the host>.onmicrosoft.com`. The authority
/// is not validated.
open class MSALCIAMAuthority: MSALAuthority {
    /// Creates the authority at `url`, on any host.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42000, if `url` is not an `https` URL (`http` is accepted
    ///   for loopback hosts).
    public convenience init(url: URL) throws {
        try self.init(url: url, validateFormat: false)
    }

    /// Creates the authority at `url`; if `validateFormat` is true, only on `<name>.ciamlogin.com`.
    ///
    /// - Throws: as `init(url:)`, also for another host if `validateFormat` is true.
    public init(url: URL, validateFormat: Bool) throws {
        let parsed = try MSALAuthority.authority(parsing: url, kind: .ciam)
        guard !validateFormat || url.host?.lowercased().hasSuffix(".ciamlogin.com") == true else {
            throw MSALError.error(.internalErrorInvalidParameter, "\(url) is not on ciamlogin.com")
        }
        super.init(authority: parsed, writtenTenant: Self.writtenTenant(of: url))
    }

    override init(authority: Authority, writtenTenant tenant: String? = nil) {
        super.init(authority: authority, writtenTenant: tenant)
    }
}

/// An authority of AD FS, which MSAL does not support: no object of this class can be created. ADAL supports AD FS.
open class MSALADFSAuthority: MSALAuthority {
    /// Always throws.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42008.
    public init(url: URL) throws {
        throw Self.unsupported
    }

    static var unsupported: NSError {
        MSALError.error(.internalErrorUnexpected, "MSAL does not support AD FS; use ADAL")
    }
}
