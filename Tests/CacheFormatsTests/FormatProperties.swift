internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// Properties that hold for all inputs. Shared with the fuzzer in Tests/Fuzz, so this file does not import Testing.
///
/// Each check returns a description of the violation; nil if there is none.
enum FormatProperties {
    /// A second import of a cache changes nothing. An agent that imports the export of the cache has the same tokens, and exports
    /// the same cache.
    static func brokenImport(_ bytes: [UInt8], _ format: CacheFormat) -> String? {
        var cache = CredentialCache()
        guard let foreign = Self.foreign(bytes, format) else { return nil }
        merge(foreign, &cache)
        let again = cache.changes(importing: foreign, in: .standard).changes
        guard again.isEmpty else { return "the second time it changes \(again)" }
        return brokenExport(of: cache)
    }

    private static func brokenExport(of cache: CredentialCache) -> String? {
        guard let first = exported(from: cache), let copy = Self.cache(from: first) else {
            return "its export cannot be read"
        }
        guard secrets(copy) == secrets(cache) else { return "\(text(first)) has not the same tokens" }
        guard let again = exported(from: copy), again == first else {
            return "\(text(first)) became \(exported(from: copy).map(text) ?? "nothing")"
        }
        var same = cache
        guard let foreign = foreign(first, .msalJSON) else { return "its export cannot be read" }
        merge(foreign, &same)
        guard same == cache else {
            let changes = cache.changes(importing: foreign, in: .standard).changes
            return "\(text(first)) changes the cache that it was made of: \(changes)"
        }
        guard let archive = try? cache.export(.adalArchive, of: .standard, now: now),
            Self.foreign(archive, .adalArchive) != nil
        else { return "its archive cannot be read" }
        return nil
    }

    private static func exported(from cache: CredentialCache) -> [UInt8]? {
        try? cache.export(.msalJSON, of: .standard, now: now)
    }

    private static func cache(from bytes: [UInt8]) -> CredentialCache? {
        guard let foreign = foreign(bytes, .msalJSON) else { return nil }
        var cache = CredentialCache()
        merge(foreign, &cache)
        return cache
    }

    /// The tokens that have not expired.
    private static func secrets(_ cache: CredentialCache) -> Set<String> {
        var secrets: Set<String> = []
        let partition = cache.partition(.standard)
        for record in partition.accountKeys.flatMap({ partition[$0].records }) {
            switch record {
            case .accessToken(let token) where token.expiresOn > now: secrets.insert(token.secret.reveal())
            case .refreshToken(let token): secrets.insert(token.secret.reveal())
            case .idToken(let token): secrets.insert(token.idToken)
            default: break
            }
        }
        return secrets
    }

    private static func merge(_ foreign: ForeignCache, _ cache: inout CredentialCache) {
        cache.apply(cache.changes(importing: foreign, in: .standard).changes, in: .standard)
    }

    private static func foreign(_ bytes: [UInt8], _ format: CacheFormat) -> ForeignCache? {
        try? ForeignCache(ForeignFile(bytes), format: format, now: now, timeZone: .gmt)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Before the tokens of most libraries' own test files expire.
    private static let now: Int64 = 1_600_000_000
}

extension CredentialCache {
    /// An export in one piece.
    func export(_ format: CacheFormat, of group: SharingGroup, now: Int64) throws(TokenError) -> [UInt8] {
        var (export, bytes) = (try startExport(format, of: group, now: now), [UInt8]())
        while let part = export.next(1 << 20) { part.withBytes { bytes += $0 } }
        return bytes
    }
}

extension CredentialCache {
    /// Plans an import without a limit of time.
    func changes(importing foreign: ForeignCache, in group: SharingGroup, keepsSignOuts: Bool = false) -> ImportPlan {
        changes(importing: foreign, in: group, keepsSignOuts: keepsSignOuts) {}
    }
}

extension ForeignFile {
    convenience init(_ bytes: [UInt8]) { self.init([Secret(bytes: bytes)]) }
}

extension LocalTimeZone {
    static let gmt = LocalTimeZone(secondsFromGMT: 0)
}
