internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Validation of records. Every record in the cache can be listed and named in a request: its values fit into a message
/// (`ValueLimits`).
extension CacheRecord {
    /// The record with names for users cut to the length that a message may hold.
    ///
    /// - Throws: what is wrong with an identifier or a token, which cannot be cut.
    package func withinLimits() throws(LimitViolation) -> CacheRecord {
        try changed { content throws(LimitViolation) in
            try content.mapIdentifiers(LimitViolation.checked)
            try content.checkSecrets()
            content.shortenNames()
        }
    }

    /// The record with values that fit into a message, for a store that an earlier version wrote without these limits; nil if
    /// no reply could hold it.
    ///
    /// An identifier that is too long is replaced by one that is derived from it, so that records of one account keep one
    /// identifier.
    var repaired: CacheRecord? {
        do throws(LimitViolation) {
            return try withinLimits()
        } catch {
            return try? changed { content throws(LimitViolation) in
                try content.mapIdentifiers { (_, text) throws(LimitViolation) in Self.shortIdentifier(of: text) }
                try content.checkSecrets()
                content.shortenNames()
            }
        }
    }

    private static func shortIdentifier(of text: String) -> String {
        guard !ValueLimits.isIdentifier(text) else { return text }
        // In lower case, because accounts are compared without regard to case.
        let text = text.lowercased()
        let start = UntrustedText.clean(text, limit: shortIdentifierStart).trimmedNonEmpty ?? ""
        return "\(start)~\(Fingerprint.of(text))"
    }

    private static let shortIdentifierStart = 128

    /// The record without optional times before 1970 or after the year 9999; nil if a required time is impossible.
    package var withPossibleTimes: CacheRecord? {
        var content = content
        return content.removeImpossibleTimes() ? content.record : nil
    }
}

/// The times that a record may hold, in seconds since 1970.
package enum RecordTime {
    /// The times from 1970 to the end of the year 9999.
    package static let possible: ClosedRange<Int64> = 0...253_402_300_799

    /// The time if it is possible.
    static func checked(_ time: Int64?) -> Int64? { time.flatMap { possible ~= $0 ? $0 : nil } }
}

/// Keys that could be read as another account's. The parts of a record's key are joined by dashes, which the parts may
/// contain.
extension CacheRecord {
    /// Whether the record's key in the store could be that of a record of another account.
    package var hasAmbiguousKey: Bool {
        let content = content
        guard let account = content.header.account else { return false }
        if account.imitatesAnotherKey { return true }
        guard account.issuer == .microsoft, let leading = Self.leadingIdentifier(of: content.key) else { return false }
        return leading != account.key
    }

    /// The home account ID that a key starts with, if it is one of Entra: an object ID, a dot, and the GUID of a tenant.
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

extension AccountKey {
    /// Whether the keys of the account's records identify the account: it ends in a tenant's GUID after the first dot.
    package var hasUnambiguousKeys: Bool {
        guard let text = homeAccountID?.text, let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")) else {
            return false
        }
        let tenant = text[text.utf8.index(after: dot)...]
        return tenant.utf8.count == CacheRecord.guidLength && UUID(uuidString: String(tenant)) != nil
    }
}

/// A value that may not be stored, because no message could hold it.
package struct LimitViolation: Error, Equatable {
    /// The reason, in words that follow the name of an entry.
    package var reason: String

    package init(reason: String) { self.reason = reason }

    /// Returns the identifier if it may be stored.
    static func checked(_ what: StaticString, _ text: String) throws(LimitViolation) -> String {
        guard ValueLimits.isIdentifier(text) else {
            throw LimitViolation(
                reason:
                    "its \(what) is longer than \(ValueLimits.identifier) bytes, or has control characters or blanks "
                    + "around it")
        }
        return text
    }

    static func check(_ token: Secret) throws(LimitViolation) {
        guard token.count <= ValueLimits.token else {
            throw LimitViolation(reason: "its token is longer than \(ValueLimits.token) bytes")
        }
        guard !token.withBytes({ $0.contains { $0 < 0x20 || $0 == 0x7F } }) else {
            throw LimitViolation(reason: "its token has control characters")
        }
    }

    static func check(_ scopes: ScopeSet) throws(LimitViolation) {
        guard scopes.isWithinLimits else {
            throw LimitViolation(
                reason:
                    "it has more than \(ValueLimits.listItems) scopes, they are longer than \(ValueLimits.longText) "
                    + "bytes, one of them is longer than \(ValueLimits.text) bytes, or they have control characters")
        }
    }
}
