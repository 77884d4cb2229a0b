// An app imports `MSAL` as before. The module re-exports Foundation, as MSAL's own module does.
@_exported public import Foundation
@_exported public import MSALCompat

// On Apple's systems, URLSession and its related types are part of Foundation.
#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
