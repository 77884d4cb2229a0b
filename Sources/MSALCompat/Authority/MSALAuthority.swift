public import Foundation
internal import TokenModel

/// A URL that issues tokens. Create one by `MSALAuthority(url:)`, or by the class for its kind.
///
/// Immutable; may be used from any thread. Authorities are equal if URL and kind are; the case of an Entra or CIAM tenant does
/// not matter, that of a B2C tenant or policy does.
open class MSALAuthority: NSObject, NSCopying, MSALAuthorityByURL {
    /// The URL in canonical form: the host in lower case, no query; of an Entra authority only the tenant of the path,
    /// in the case in which the app wrote it.
    public let url: URL
    let authority: Authority

    /// - Parameter tenant: the tenant as the app wrote it; nil takes that of `authority`, which is in lower case.
    init(authority: Authority, writtenTenant tenant: String? = nil) {
        self.authority = authority
        let text = tenant.map { "\(authority.scheme)://\(authority.environment)/\($0)" } ?? authority.url
        // Both texts come from parsed URLs, so that the last alternative is never used.
        self.url = URL(string: text) ?? URL(string: authority.url) ?? URL(fileURLWithPath: authority.path)
    }

    /// Returns the object itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether URL and kind are equal, without regard to the case of an Entra or CIAM tenant.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MSALAuthority)?.authority == authority
    }

    /// Equal for equal authorities.
    open override var hash: Int { authority.hashValue }

    /// The URL.
    open override var description: String { url.absoluteString }
}

extension MSALAuthority {
    /// Parses `url` as an authority of `kind`, or of the kind of its host.
    static func authority(parsing url: URL, kind: Authority.Kind? = nil) throws(NSError) -> Authority {
        do {
            return try Authority(url.absoluteString, kind: kind)
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// Returns the first path segment as it is written, which is the tenant of an Entra or CIAM authority; nil if there
    /// is none.
    static func writtenTenant(of url: URL) -> String? {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath
        return path?.split(separator: "/").first.map(String.init)
    }

    /// Creates an object of the class for the kind of the authority.
    ///
    /// - Parameter tenant: the tenant as the app wrote it.
    static func make(_ authority: Authority, writtenTenant tenant: String? = nil) throws(NSError) -> MSALAuthority {
        switch authority.kind {
        case .entra: return MSALAADAuthority(authority: authority, writtenTenant: tenant)
        case .ciam: return MSALCIAMAuthority(authority: authority, writtenTenant: tenant)
        case .b2c: return issuer(authority)
        case .adfs: throw MSALADFSAuthority.unsupported
        case .openID: throw MSALError.error(.internalErrorInvalidParameter, "MSAL does not support \(authority)")
        }
    }

    /// Creates the object for a valid authority: the default one or the issuer of a token. It has the base class if
    /// MSAL has none for its kind, such as AD FS.
    static func issuer(_ authority: Authority) -> MSALAuthority {
        switch authority.kind {
        case .entra: MSALAADAuthority(authority: authority)
        case .b2c: MSALB2CAuthority(authority: authority)
        case .ciam: MSALCIAMAuthority(authority: authority)
        case .adfs, .openID: MSALAuthority(authority: authority)
        }
    }
}

/// Lets `MSALAuthority(url:)` create an object of the class for the kind of the URL, as in the original.
///
/// An initializer of a class cannot return an object of a subclass, but one of a protocol extension can. Apps do not
/// use this protocol.
public protocol MSALAuthorityByURL {}

extension MSALAuthorityByURL where Self: MSALAuthority {
    /// Creates the authority at `url`: an `MSALAADAuthority`, `MSALB2CAuthority` or `MSALCIAMAuthority`, depending on
    /// the URL.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42008, if `url` is not an `https` URL (`http` is accepted
    ///   for loopback hosts), has no path, which only one on `ciamlogin.com` may leave out, or is an authority of AD FS or
    ///   dSTS, which MSAL does not support.
    public init(url: URL) throws {
        // As in the original, the reasons why each class rejects the URL are not reported.
        guard
            let made = try? MSALAuthority.make(
                MSALAuthority.authority(parsing: url), writtenTenant: MSALAuthority.writtenTenant(of: url)) as? Self
        else {
            throw MSALError.error(.internalErrorUnexpected, "\(url) is not an authority that MSAL supports")
        }
        self = made
    }
}
