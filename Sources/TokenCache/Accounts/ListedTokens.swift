package import TokenModel
internal import TokenStore

/// The tokens of a list that are in the store only.
///
/// A list is made twice: the first time, it names the tokens that it shows. When they have been read, it is made again
/// with them. The tokens are not added to the cache: the cost of a page depends on its own tokens, however large the
/// cache is, and a list of all accounts leaves no token in memory.
package struct ListedTokens: Sendable {
    private let group: SharingGroup
    /// The records that have been read; nil for one that the store does not have.
    private var read: [UnreadToken: CacheRecord?] = [:]
    /// The tokens that have to be read before the list can be made; it is of no use then.
    package private(set) var missing: Set<UnreadToken> = []

    package init(in group: SharingGroup) { self.group = group }

    /// Adds what the store has of the missing tokens.
    package mutating func add(_ tokens: ReadTokens) {
        let records = Dictionary(tokens.records.map { ($0.key, $0.record) }, uniquingKeysWith: { first, _ in first })
        for token in missing {
            // A record of another account with the same key has replaced the token.
            let record = records[token.key].flatMap { $0.header.account == token.account ? $0 : nil }
            read[token] = .some(record)
        }
        missing = []
    }

    /// The record with its token: as it is if the token is in memory or has not been read yet; nil if the store has lost it.
    func completed(_ token: AccessTokenRecord) -> AccessTokenRecord? {
        guard token.secret.isUnread, let found = read[unread(.accessToken(token), of: token.account)] else {
            return token
        }
        if case .accessToken(let read) = found { return read }
        return nil
    }

    /// The record with its token, as above.
    func completed(_ token: IDTokenRecord) -> IDTokenRecord? {
        guard token.isUnread, let found = read[unread(.idToken(token), of: token.account)] else { return token }
        if case .idToken(let read) = found { return read }
        return nil
    }

    /// Notes that the list shows the token of a record, unless it is in memory or has been read.
    mutating func show(_ record: CacheRecord) {
        guard record.isUnread, let account = record.header.account else { return }
        let token = unread(record, of: account)
        if read[token] == nil { missing.insert(token) }
    }

    /// The key of an unread record follows from its content (`CacheRecord.load`, `AccountTable.pack`).
    private func unread(_ record: CacheRecord, of account: AccountKey) -> UnreadToken {
        UnreadToken(account: account, key: record.key(in: group))
    }
}
