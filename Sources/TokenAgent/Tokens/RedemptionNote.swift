internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Notes in the store about refresh tokens that are on their way to a token endpoint, so that a lost answer is noticed.
///
/// The protocol: a note is durable before the refresh token is sent. Whatever the answer changes deletes the note in the same
/// commit. Without an answer the note stays, since the token may have been redeemed all the same. A note that the store holds
/// at start-up tells that an answer was lost: if the refresh token is refused then, nothing is damaged, but the user has to
/// sign in again.
final class RedemptionNotes {
    private let memory: CacheMemory
    private let tokensInUse: KeyedLock<Secret>
    /// Refresh tokens whose answers were lost when the agent last stopped, and that have not been settled since.
    private(set) var interrupted: Set<RecordKey> = []

    init(memory: CacheMemory, tokensInUse: KeyedLock<Secret>) {
        self.memory = memory
        self.tokensInUse = tokensInUse
    }

    /// The store held these notes at start-up.
    func load(_ interrupted: Set<RecordKey>) { self.interrupted = interrupted }

    /// What to write before a refresh token is sent.
    func note(of token: RefreshTokenRecord, in group: SharingGroup, at now: Int64) -> StoreChange {
        let key = Self.note(of: CacheRecord.refreshToken(token).key(in: group))
        return .put(StoredRecord(key: key, body: Array("{\"began_at\":\"\(now)\"}".utf8)))
    }

    /// What deletes the notes about refresh tokens.
    func deletions(of tokens: some Sequence<RecordKey>) -> [StoreChange] { tokens.map { .delete(Self.note(of: $0)) } }

    /// The notes about these tokens are deleted.
    func settle(_ tokens: some Sequence<RecordKey>) { interrupted.subtract(tokens) }

    /// Whether the answer to an earlier redemption of this token was lost, so that it may be used up.
    func wasInterrupted(_ token: RefreshTokenRecord, in group: SharingGroup) -> Bool {
        interrupted.contains(CacheRecord.refreshToken(token).key(in: group))
    }

    /// The token whose note an answer to this refresh token settles. Nil if the note is by now about another token, which has
    /// taken this one's place and is on its way itself.
    func settled(by token: RefreshTokenRecord, in group: SharingGroup) -> RecordKey? {
        let held = memory.cache.refreshToken(inPlaceOf: token, in: group)?.secret
        guard held == nil || held == token.secret || held.map({ !tokensInUse.isHeld($0) }) == true else { return nil }
        return CacheRecord.refreshToken(token).key(in: group)
    }

    /// The refresh token that a stored note is about; nil if the record is no note.
    static func token(of note: RecordKey) -> RecordKey? {
        guard note.kind == .redemption else { return nil }
        return RecordKey(group: note.group, kind: .refreshToken, key: note.key)
    }

    /// A note has the key of its refresh token, and a kind of its own.
    static func note(of token: RecordKey) -> RecordKey {
        RecordKey(group: token.group, kind: .redemption, key: token.key)
    }
}
