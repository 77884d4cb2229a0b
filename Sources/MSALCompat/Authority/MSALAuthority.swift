public import Foundation
internal import TokenModel

/// A URL that issues tokens. Make one with `MSALAuthority(url:)`, or with the class for its kind.
///
/// Immutable, so it may be used from any thread. Equal when the class and the URL are.
open class MSALAuthority: NSObject, NSCopying, MSALAuthorityByURL {
    /// The authority's URL in its normal form: host in lower case, no query; Entra authorities keep only the tenant.
    public let url: URL
    let authority: Authority

    init(authority: Authority) {
        self.authority = authority
        // An `Authority` was parsed from a URL, so the second way is never taken.
        self.url = URL(string: authority.url) ?? URL(fileURLWithPath: authority.path)
    }

    /// The same object: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether class and URL are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MSALAuthority)?.authority == authority
    }

    /// Goes with `isEqual(_:)`.
    open override var hash: Int { authority.hashValue }

    /// The URL.
    open override var description: String { authority.url }
}

extension MSALAuthority {
    /// Parses `url`, as `kind` where it is given.
    static func authority(parsing url: URL, kind: Authority.Kind? = nil) throws(NSError) -> Authority {
        do {
            return try Authority(url.absoluteString, kind: kind)
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// An object of the class that fits.
    static func make(_ authority: Authority) throws(NSError) -> MSALAuthority {
        switch authority.kind {
        case .entra, .b2c, .ciam: return issuer(authority)
        case .adfs: throw MSALADFSAuthority.unsupported
        case .openID: throw MSALError.error(.internalErrorInvalidParameter, "\(authority) is no authority of MSAL's")
        }
    }

    /// An authority that is known to be one: the default, or the issuer of a token.
    ///
    /// Of the base class where MSAL has no class for its kind, such as AD FS.
    static func issuer(_ authority: Authority) -> MSALAuthority {
        switch authority.kind {
        case .entra: MSALAADAuthority(authority: authority)
        case .b2c: MSALB2CAuthority(authority: authority)
        case .ciam: MSALCIAMAuthority(authority: authority)
        case .adfs, .openID: MSALAuthority(authority: authority)
        }
    }
}
