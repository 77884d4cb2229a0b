public import Foundation

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
