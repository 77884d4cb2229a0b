public import Foundation

/// Lets `MSALAuthority(url:)` make an authority of the class that fits the URL, as the original's does.
///
/// An initialiser of a class cannot return an object of a subclass, one of a protocol extension can. Apps have no use
/// for this protocol.
public protocol MSALAuthorityByURL {}

extension MSALAuthorityByURL where Self: MSALAuthority {
    /// The authority at `url`: an `MSALAADAuthority`, `MSALB2CAuthority` or `MSALCIAMAuthority`, whichever fits.
    ///
    /// - Throws: `MSALError.internal` (-50000) when `url` is not an `https` URL with a path (`http` is taken for
    ///   loopback hosts only), or is one of AD FS, which MSAL does not support.
    public init(url: URL) throws {
        let authority = try MSALAuthority.authority(parsing: url)
        guard let made = try MSALAuthority.make(authority) as? Self else {
            throw MSALError.error(.internalErrorInvalidParameter, "\(url) is not an authority of this class")
        }
        self = made
    }
}
