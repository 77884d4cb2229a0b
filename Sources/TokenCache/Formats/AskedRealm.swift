internal import TokenModel

/// The realm that an authority in an authority map names: as other libraries write it, so that it need not make an authority
/// here. Python writes `tfp` for B2C.
struct AskedRealm {
    let environment: String
    let realm: String
    /// The authority where it is one.
    let authority: Authority?

    init?(_ url: String) {
        authority = try? Authority(url)
        if let authority {
            environment = authority.environment
            realm = authority.realm
        } else if let parts = try? URLParts(url), let first = parts.segments.first {
            environment = parts.environment
            realm = first
        } else {
            return nil
        }
    }
}
