// `import MSAL` in an app stays as it is: MSAL's own module brought Foundation with it too.
@_exported public import Foundation
@_exported public import MSALCompat

// On Apple's systems URLSession and its kin are parts of Foundation.
#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
