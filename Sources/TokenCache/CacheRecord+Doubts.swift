internal import TokenModel
internal import TokenStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a record from outside must not say.
extension CacheRecord {
    /// Without times before 1970 or after the year 9999; nil when it is of no use without them.
    var withPossibleTimes: CacheRecord? {
        func possible(_ time: Int64?) -> Int64? { time.flatMap { ADALTime.possible ~= $0 ? $0 : nil } }
        switch self {
        case .accessToken(var token):
            guard possible(token.cachedAt) != nil, possible(token.expiresOn) != nil else { return nil }
            token.extendedExpiresOn = possible(token.extendedExpiresOn)
            token.refreshOn = possible(token.refreshOn)
            return .accessToken(token)
        case .refreshToken(var token):
            token.obtainedOn = possible(token.obtainedOn)
            return .refreshToken(token)
        case .account, .idToken, .appMetadata, .accountMetadata, .principal, .carried: return self
        }
    }

    /// Whether its name in the store could be that of another account's record. The parts of a name are joined by dashes,
    /// which the parts may have, too.
    var isMistakable: Bool {
        guard let owner else { return false }
        if owner.isMistakable { return true }
        guard let leading = Self.leadingIdentifier(of: key(in: .standard).key) else { return false }
        return leading != owner.key
    }

    /// What a record's name begins with, if that is an account of Entra: anything, a dot, and the GUID of a tenant.
    private static func leadingIdentifier(of key: String) -> String? {
        let bytes = Array(key.utf8)
        guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        let end = dot + 1 + guidLength
        guard end < bytes.count, bytes[end] == UInt8(ascii: "-"),
            UUID(uuidString: String(decoding: bytes[(dot + 1)..<end], as: UTF8.self)) != nil
        else { return nil }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    fileprivate static let guidLength = 36
}

extension OwnerID {
    /// Whether the names of its records say whose they are: it ends at a tenant's GUID behind the first dot.
    var isUnmistakable: Bool {
        guard let text = homeAccountID?.text, let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")) else {
            return false
        }
        let tenant = text[text.utf8.index(after: dot)...]
        return tenant.utf8.count == CacheRecord.guidLength && UUID(uuidString: String(tenant)) != nil
    }
}
