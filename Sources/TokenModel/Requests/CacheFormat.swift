/// How another library writes its token cache down.
public enum CacheFormat: Int32, Sendable, CaseIterable {
    /// The JSON object that MSAL for Python, Go, Java, .NET and Node share.
    case msalJSON = 1
    /// The JSON list of ADAL for Python and Node; import only.
    case adalJSON = 2
    /// The keyed archive of ADAL for Objective-C: a keychain item or a macOS cache.
    case adalArchive = 3
}
