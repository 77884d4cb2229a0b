public import Foundation
internal import TokenModel

/// An authority of Entra External ID for customers, such as `https://contoso.ciamlogin.com`, or one of a custom domain, such
/// as `https://login.contoso.com/<tenant>`.
///
/// On `ciamlogin.com`, a URL without a path stands for the tenant `<first label of the host>.onmicrosoft.com`. It is not
/// validated.
open class MSALCIAMAuthority: MSALAuthority {
    /// The authority at `url`, on any host.
    ///
    /// - Throws: `MSALError.internal` (-50000) when `url` is not an `https` URL (`http` is taken for loopback hosts).
    public convenience init(url: URL) throws {
        try self.init(url: url, validateFormat: false)
    }

    /// The authority at `url`; with `validateFormat`, only on `<name>.ciamlogin.com`.
    ///
    /// - Throws: as `init(url:)`, also for another host with `validateFormat`.
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
