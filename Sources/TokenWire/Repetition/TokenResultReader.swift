package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads the reply to a silent request straight from its frame, in one pass and with few allocations.
///
/// It reads only what agents write: each field once, in the order of agent.proto, within the limits, with texts in
/// ASCII. Every other frame is decoded by protobuf-c and `TokenResult.init(_:_:)`, which also report every error. They
/// decode the frames that this type reads with the same result.
///
/// The account, the profile, the scopes and the authority are usually those of the reply before, whose values are then
/// used again. No token is kept.
package struct TokenResultReader {
    private var account = LastValue<Account>()
    private var profile = LastValue<TenantProfile>()
    private var scopes = LastValue<[String]>()
    private var authority = LastValue<String>()
    private var tokenType = LastValue<String>()

    package init() {}

    /// Reads a frame, without its length; nil if it has to be decoded.
    package mutating func read(_ frame: UnsafeRawBufferPointer) -> (id: UInt64, result: TokenResult)? {
        var outer = WireCursor(frame, 0..<frame.count)
        guard outer.rawTag() == Tag.requestID, let id = outer.number(), outer.rawTag() == Tag.result,
            let body = outer.passContent(), outer.isAtEnd, let fields = Fields(frame, body),
            let result = result(fields, frame)
        else { return nil }
        return (id, result)
    }

    private mutating func result(_ fields: Fields, _ frame: UnsafeRawBufferPointer) -> TokenResult? {
        guard let accessToken = frame.secret(fields.accessToken), let accountRange = fields.account,
            let account = account.value(frame, accountRange, { Self.account($0, $1) }),
            let tokenType = tokenType.value(frame, fields.tokenType, absent: "Bearer", { $0.text($1) }),
            let scopes = scopes.value(frame, fields.scopes, absent: [], { Self.scopes($0, $1) }),
            let authority = authority.value(frame, fields.authority, absent: "", { $0.text($1) }),
            let correlationID = frame.correlationID(fields.correlationID)
        else { return nil }
        var (idToken, familyID, profile) = (String?.none, FamilyID?.none, TenantProfile?.none)
        if let range = fields.profile {
            guard let read = self.profile.value(frame, range, { Self.profile($0, $1) }) else { return nil }
            profile = read
        }
        if let range = fields.idToken {
            guard let token = frame.text(range, limit: WireLimits.token) else { return nil }
            idToken = token
        }
        if let range = fields.familyID {
            guard let text = frame.text(range) else { return nil }
            familyID = FamilyID(text)
        }
        var result = TokenResult(
            accessToken: accessToken, tokenType: tokenType, expiresOn: fields.expiresOn ?? 0,
            extendedExpiresOn: fields.extendedExpiresOn, scopes: scopes, idToken: idToken,
            account: fields.accountHasIDToken ? account.with(idToken) : account,
            tenantProfile: fields.profileHasIDToken ? profile?.with(idToken) : profile, authority: authority,
            correlationID: correlationID, isFromCache: fields.isFromCache,
            isExtendedLifetime: fields.isExtendedLifetime, familyID: familyID,
            hasMultiResourceRefreshToken: fields.hasMultiResourceRefreshToken)
        if let from = fields.freshFrom, let through = fields.freshThrough, from <= through {
            result.freshness = from...through
        }
        return result
    }

    /// Reads an account without an ID token and without profiles.
    private static func account(_ frame: UnsafeRawBufferPointer, _ message: Range<Int>) -> Account? {
        var (cursor, account) = (
            WireCursor(frame, message), Account(homeAccountID: nil, username: nil, environment: "", source: .msal)
        )
        var last: UInt64 = 0
        while let tag = cursor.nextTag(after: &last) {
            if tag == Tag.source {
                guard let number = cursor.number() else { return nil }
                account.source = Account.Source(rawValue: Int32(truncatingIfNeeded: number)) ?? .msal
                continue
            }
            guard let range = cursor.passContent(), let text = frame.text(range) else { return nil }
            switch tag {
            case Tag.homeAccountID: account.homeAccountID = HomeAccountID(text)
            case Tag.username: account.username = text
            case Tag.environment: account.environment = text
            default: return nil
            }
        }
        return cursor.isAtEnd ? account : nil
    }

    /// Reads a profile without an ID token.
    private static func profile(_ frame: UnsafeRawBufferPointer, _ message: Range<Int>) -> TenantProfile? {
        var (cursor, profile) = (
            WireCursor(frame, message),
            TenantProfile(realm: "", localAccountID: nil, username: nil, environment: "", isHome: false)
        )
        var last: UInt64 = 0
        while let tag = cursor.nextTag(after: &last) {
            if tag == Tag.isHome {
                guard let number = cursor.number() else { return nil }
                profile.isHome = number != 0
                continue
            }
            guard let range = cursor.passContent(), let text = frame.text(range) else { return nil }
            switch tag {
            case Tag.realm: profile.realm = text
            case Tag.localAccountID: profile.localAccountID = text
            case Tag.profileUsername: profile.username = text
            case Tag.profileEnvironment: profile.environment = text
            default: return nil
            }
        }
        return cursor.isAtEnd ? profile : nil
    }

    /// Reads the fields of the scopes, which follow one another.
    private static func scopes(_ frame: UnsafeRawBufferPointer, _ fields: Range<Int>) -> [String]? {
        var (cursor, scopes) = (WireCursor(frame, fields), [String]())
        while !cursor.isAtEnd {
            guard cursor.rawTag() == Tag.scope, scopes.count < scopeLimit, let range = cursor.passContent(),
                let scope = frame.text(range)
            else { return nil }
            scopes.append(scope)
        }
        return scopes
    }

    /// More scopes than a token has; far fewer than `WireLimits.listItems`.
    private static let scopeLimit = 64

    /// The fields of a result: numbers, and the places of everything else.
    private struct Fields {
        var accessToken = 0..<0
        var tokenType: Range<Int>?
        var expiresOn: Int64?
        var extendedExpiresOn: Int64?
        /// The bytes from the first scope to the end of the last one, with their tags and lengths.
        var scopes: Range<Int>?
        var idToken: Range<Int>?
        var account: Range<Int>?
        var profile: Range<Int>?
        var authority: Range<Int>?
        var correlationID = 0..<0
        var isFromCache = false
        var isExtendedLifetime = false
        var familyID: Range<Int>?
        var hasMultiResourceRefreshToken = false
        var freshFrom: Int64?
        var freshThrough: Int64?
        var accountHasIDToken = false
        var profileHasIDToken = false

        /// Returns nil if there is a field that this version does not know, one that is repeated, or one that is malformed.
        init?(_ frame: UnsafeRawBufferPointer, _ message: Range<Int>) {
            var (cursor, last) = (WireCursor(frame, message), UInt64(0))
            while true {
                let start = cursor.offset
                guard let tag = cursor.nextTag(after: &last) else { break }
                if tag & WireCursor.typeMask == WireCursor.numeric {
                    guard let number = cursor.number(), set(tag, number) else { return nil }
                } else if tag == Tag.scope {
                    guard cursor.passContent() != nil, cursor.passRepetitions(of: tag) else { return nil }
                    scopes = start..<cursor.offset
                } else {
                    guard let content = cursor.passContent(), set(tag, content) else { return nil }
                }
            }
            guard cursor.isAtEnd else { return nil }
        }

        private mutating func set(_ tag: UInt64, _ content: Range<Int>) -> Bool {
            switch tag {
            case Tag.accessToken: accessToken = content
            case Tag.tokenType: tokenType = content
            case Tag.idToken: idToken = content
            case Tag.account: account = content
            case Tag.profile: profile = content
            case Tag.authority: authority = content
            case Tag.correlationID: correlationID = content
            case Tag.familyID: familyID = content
            default: return false
            }
            return true
        }

        private mutating func set(_ tag: UInt64, _ number: UInt64) -> Bool {
            switch tag {
            case Tag.expiresOn: expiresOn = Int64(number)
            case Tag.extendedExpiresOn: extendedExpiresOn = Int64(number)
            case Tag.isFromCache: isFromCache = number != 0
            case Tag.isExtendedLifetime: isExtendedLifetime = number != 0
            case Tag.hasMultiResourceRefreshToken: hasMultiResourceRefreshToken = number != 0
            case Tag.freshFrom: freshFrom = Int64(number)
            case Tag.freshThrough: freshThrough = Int64(number)
            case Tag.accountHasIDToken: accountHasIDToken = number != 0
            case Tag.profileHasIDToken: profileHasIDToken = number != 0
            default: return false
            }
            return true
        }
    }

    /// The tags of the fields that are read: the number of the field in agent.proto and the type of its encoding. Constants;
    /// `TokenResultReaderTests` compares what is read by them with what protobuf-c reads.
    enum Tag {
        static let requestID: UInt64 = 1 << 3
        static let result: UInt64 = 11 << 3 | 2

        static let accessToken: UInt64 = 1 << 3 | 2
        static let tokenType: UInt64 = 2 << 3 | 2
        static let expiresOn: UInt64 = 3 << 3
        static let extendedExpiresOn: UInt64 = 4 << 3
        static let scope: UInt64 = 5 << 3 | 2
        static let idToken: UInt64 = 6 << 3 | 2
        static let account: UInt64 = 7 << 3 | 2
        static let profile: UInt64 = 8 << 3 | 2
        static let authority: UInt64 = 9 << 3 | 2
        static let correlationID: UInt64 = 10 << 3 | 2
        static let isFromCache: UInt64 = 11 << 3
        static let isExtendedLifetime: UInt64 = 12 << 3
        static let familyID: UInt64 = 13 << 3 | 2
        static let hasMultiResourceRefreshToken: UInt64 = 14 << 3
        static let freshFrom: UInt64 = 15 << 3
        static let freshThrough: UInt64 = 16 << 3
        static let accountHasIDToken: UInt64 = 17 << 3
        static let profileHasIDToken: UInt64 = 18 << 3

        static let homeAccountID: UInt64 = 1 << 3 | 2
        static let username: UInt64 = 2 << 3 | 2
        static let environment: UInt64 = 3 << 3 | 2
        static let source: UInt64 = 4 << 3

        static let realm: UInt64 = 1 << 3 | 2
        static let localAccountID: UInt64 = 2 << 3 | 2
        static let profileUsername: UInt64 = 3 << 3 | 2
        static let profileEnvironment: UInt64 = 4 << 3 | 2
        static let isHome: UInt64 = 5 << 3
    }
}

/// A value, and the bytes that it was read from; the same bytes are not read again.
private struct LastValue<Value> {
    private var bytes: [UInt8] = []
    private var value: Value?

    /// The value of the bytes in `range`.
    ///
    /// - Parameter read: nil if the bytes have to be decoded.
    mutating func value(
        _ frame: UnsafeRawBufferPointer, _ range: Range<Int>, _ read: (UnsafeRawBufferPointer, Range<Int>) -> Value?
    ) -> Value? {
        if let value, bytes.elementsEqual(frame, range) { return value }
        guard let new = read(frame, range) else { return nil }
        bytes = Array(frame[range])
        value = new
        return new
    }

    /// The value of the bytes in `range`, as above; `absent` if there is no such field.
    mutating func value(
        _ frame: UnsafeRawBufferPointer, _ range: Range<Int>?, absent: Value,
        _ read: (UnsafeRawBufferPointer, Range<Int>) -> Value?
    ) -> Value? {
        guard let range else { return absent }
        return value(frame, range, read)
    }
}

extension Account {
    fileprivate func with(_ idToken: String?) -> Account {
        var account = self
        account.homeIDToken = idToken
        return account
    }
}

extension TenantProfile {
    fileprivate func with(_ idToken: String?) -> TenantProfile {
        var profile = self
        profile.idToken = idToken
        return profile
    }
}

extension [UInt8] {
    fileprivate func elementsEqual(_ frame: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard count == range.count, let other = frame.baseAddress else { return false }
        return withUnsafeBytes { own in
            own.baseAddress.map { memcmp($0, other + range.lowerBound, range.count) == 0 } ?? true
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The text in a range; nil if it has other characters than those of ASCII without NUL, or is longer than `limit`.
    fileprivate func text(_ range: Range<Int>, limit: Int = WireLimits.text) -> String? {
        let bytes = UnsafeRawBufferPointer(rebasing: self[range])
        guard bytes.count <= limit, bytes.isPlainText else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The secret in a range; nil if it has a NUL, is empty or too long.
    fileprivate func secret(_ range: Range<Int>) -> Secret? {
        guard range.count <= WireLimits.token, !range.isEmpty, let start = baseAddress,
            memchr(start + range.lowerBound, 0, range.count) == nil
        else { return nil }
        return Secret(copying: UnsafeRawBufferPointer(rebasing: self[range]))
    }

    fileprivate func correlationID(_ range: Range<Int>) -> CorrelationID? {
        CorrelationID(UnsafeRawBufferPointer(rebasing: self[range]))
    }

    /// Whether every byte is a character of ASCII other than NUL. Words are checked at a time.
    fileprivate var isPlainText: Bool {
        var (offset, findings) = (0, UInt64(0))
        while offset + 32 <= count {
            for part in stride(from: offset, to: offset + 32, by: 8) {
                findings |= Self.findings(loadUnaligned(fromByteOffset: part, as: UInt64.self))
            }
            guard findings & Self.highBits == 0 else { return false }
            offset += 32
        }
        while offset + 8 <= count {
            findings |= Self.findings(loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        if offset < count, count >= 8 {
            // The last bytes, with some that have been checked.
            findings |= Self.findings(loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        } else {
            while offset < count {
                findings |= Self.findings(UInt64(self[offset]) | Self.lowBits << 8)
                offset += 1
            }
        }
        return findings & Self.highBits == 0
    }

    /// The high bit of a byte is set if the byte is not ASCII; that of the first NUL is set by the subtraction.
    private static func findings(_ word: UInt64) -> UInt64 { word | (word &- lowBits) }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let lowBits: UInt64 = 0x0101_0101_0101_0101
}
