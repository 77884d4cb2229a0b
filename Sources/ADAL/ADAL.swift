// An app imports `ADAL` as before. The module re-exports Foundation, as ADAL's own module does.
@_exported public import ADALCompat
@_exported public import Foundation

// On Apple's systems, URLSession and its related types are part of Foundation.
#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
