public import Foundation
internal import TokenModel

/// A URL that issues tokens. Make one with `MSALAuthority(url:)`, or with the class for its kind.
///
/// Immutable, so it may be used from any thread. Equal when the class and the URL are, whatever the case of the tenant.
open class MSALAuthority: NSObject, NSCopying, MSALAuthorityByURL {
    /// The authority's URL in its normal form: host in lower case, no query; Entra authorities keep only the tenant, in the
    /// case that the app wrote it in.
    public let url: URL
    let authority: Authority

    /// - Parameter tenant: as the app wrote it; nil takes the authority's, which is in lower case.
    init(authority: Authority, writtenTenant tenant: String? = nil) {
        self.authority = authority
        let text = tenant.map { "\(authority.scheme)://\(authority.environment)/\($0)" } ?? authority.url
        // Both texts are of URLs that were parsed, so the last way is never taken.
        self.url = URL(string: text) ?? URL(string: authority.url) ?? URL(fileURLWithPath: authority.path)
    }

    /// The same object: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether class and URL are the same; the case of a tenant does not matter.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MSALAuthority)?.authority == authority
    }

    /// Goes with `isEqual(_:)`.
    open override var hash: Int { authority.hashValue }

    /// The URL.
    open override var description: String { url.absoluteString }
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

    /// The first segment of a URL's path as it is written, which is the tenant of an Entra or CIAM authority; nil when there is
    /// none.
    static func writtenTenant(of url: URL) -> String? {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath
        return path?.split(separator: "/").first.map(String.init)
    }

    /// An object of the class that fits.
    ///
    /// - Parameter tenant: as the app wrote it.
    static func make(_ authority: Authority, writtenTenant tenant: String? = nil) throws(NSError) -> MSALAuthority {
        switch authority.kind {
        case .entra: return MSALAADAuthority(authority: authority, writtenTenant: tenant)
        case .ciam: return MSALCIAMAuthority(authority: authority, writtenTenant: tenant)
        case .b2c: return issuer(authority)
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

/// Lets `MSALAuthority(url:)` make an authority of the class that fits the URL, as the original's does.
///
/// An initialiser of a class cannot return an object of a subclass, one of a protocol extension can. Apps have no use
/// for this protocol.
public protocol MSALAuthorityByURL {}

extension MSALAuthorityByURL where Self: MSALAuthority {
    /// The authority at `url`: an `MSALAADAuthority`, `MSALB2CAuthority` or `MSALCIAMAuthority`, whichever fits.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42008, when `url` is not an `https` URL with a path
    ///   (`http` is taken for loopback hosts only), or is one of AD FS, which MSAL does not support.
    public init(url: URL) throws {
        // What each class has against the URL is not said, as in the original: none of them takes it.
        guard
            let made = try? MSALAuthority.make(
                MSALAuthority.authority(parsing: url), writtenTenant: MSALAuthority.writtenTenant(of: url)) as? Self
        else {
            throw MSALError.error(.internalErrorUnexpected, "\(url) is no authority that MSAL supports")
        }
        self = made
    }
}
