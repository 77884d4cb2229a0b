public import Foundation
internal import TokenModel

/// An authority of Entra External ID for customers, such as `https://contoso.ciamlogin.com`.
///
/// Without a path it stands for the tenant `<first label of the host>.onmicrosoft.com`. It is not validated.
open class MSALCIAMAuthority: MSALAuthority {
    /// The authority at `url`.
    ///
    /// - Throws: `MSALError.internal` (-50000) when `url` is not an `https` URL on a `ciamlogin.com` host.
    public convenience init(url: URL) throws {
        try self.init(url: url, validateFormat: true)
    }

    /// The authority at `url`; `validateFormat` false takes any host, for custom domains.
    ///
    /// - Throws: as `init(url:)`.
    public init(url: URL, validateFormat: Bool) throws {
        let parsed = try MSALAuthority.authority(parsing: url, kind: .ciam)
        guard !validateFormat || url.host?.lowercased().hasSuffix(".ciamlogin.com") == true else {
            throw MSALError.error(.internalErrorInvalidParameter, "\(url) is not on ciamlogin.com")
        }
        super.init(authority: parsed)
    }

    override init(authority: Authority) {
        super.init(authority: authority)
    }
}
