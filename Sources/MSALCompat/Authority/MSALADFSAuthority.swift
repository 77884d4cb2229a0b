public import Foundation

/// An authority of AD FS, which MSAL does not support: no object of this class can be made. ADAL supports AD FS.
open class MSALADFSAuthority: MSALAuthority {
    /// Always fails.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42008.
    public init(url: URL) throws {
        throw Self.unsupported
    }

    static var unsupported: NSError {
        MSALError.error(.internalErrorUnexpected, "MSAL does not support AD FS; use ADAL")
    }
}
