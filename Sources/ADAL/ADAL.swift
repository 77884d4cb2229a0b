// `import ADAL` in an app stays as it is: ADAL's own module brought Foundation with it too.
@_exported public import ADALCompat
@_exported public import Foundation

// On Apple's systems URLSession and its kin are parts of Foundation.
#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
