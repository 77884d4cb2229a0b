internal import ArgumentParser
internal import TokenModel

/// How a cache is written, as the command line calls it.
enum FormatName: String, ExpressibleByArgument, CaseIterable {
    case msalJSON = "msal-json"
    case adalJSON = "adal-json"
    case adalArchive = "adal-archive"

    var value: CacheFormat {
        switch self {
        case .msalJSON: .msalJSON
        case .adalJSON: .adalJSON
        case .adalArchive: .adalArchive
        }
    }
}
