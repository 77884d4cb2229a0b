internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Redemption notes: records in the store of the refresh tokens that are being redeemed, by which a lost response is detected.
///
/// The protocol: a note is durable before the refresh token is sent. The commit of the token endpoint's response deletes the note. Without
/// a response the note stays, since the token may have been redeemed nevertheless. So does one that is in the store at start-up: a response
/// was lost. If the refresh token is refused afterwards, that is the reason, and the user has to sign in again.
///
/// Used on the actor of `CacheOwner` only.
final class RedemptionNotes {
    private let memory: CacheMemory
    private let tokensInUse: KeyedLock<Secret>
    /// The refresh tokens for which responses were lost or named another user, before the agent last stopped or since, and that have not been
    /// redeemed since.
    private(set) var interrupted: Set<RecordKey> = []

    init(memory: CacheMemory, tokensInUse: KeyedLock<Secret>) {
        self.memory = memory
        self.tokensInUse = tokensInUse
    }

    /// Sets the tokens whose notes the store had at start-up.
    func load(_ interrupted: Set<RecordKey>) { self.interrupted = interrupted }

    /// Records that no response came to a redemption of a token that the cache still has, in memory or in the store only, or none that could
    /// be used: its note stays.
    func keepNote(of token: RefreshTokenRecord, in group: SharingGroup) {
        guard let held = memory.cache.refreshToken(inPlaceOf: token, in: group)?.secret,
            held.isUnread || held == token.secret
        else { return }
        interrupted.insert(CacheRecord.refreshToken(token).key(in: group))
    }

    /// The change that writes the note of a refresh token, before it is sent.
    func note(of token: RefreshTokenRecord, in group: SharingGroup, at now: Int64) -> StoreChange {
        let key = Self.note(of: CacheRecord.refreshToken(token).key(in: group))
        return .put(StoredRecord(key: key, body: Array("{\"began_at\":\"\(now)\"}".utf8), account: .noAccount))
    }

    /// The changes that delete the notes of refresh tokens.
    func deletions(of tokens: some Sequence<RecordKey>) -> [StoreChange] { tokens.map { .delete(Self.note(of: $0)) } }

    /// Removes tokens whose notes have been deleted from the interrupted ones.
    func settle(_ tokens: some Sequence<RecordKey>) { interrupted.subtract(tokens) }

    /// Whether the response to an earlier redemption of this token was lost, so that the token may have been replaced.
    func wasInterrupted(_ token: RefreshTokenRecord, in group: SharingGroup) -> Bool {
        interrupted.contains(CacheRecord.refreshToken(token).key(in: group))
    }

    /// The key of the refresh token whose note can be deleted once this token's redemption has a result. Nil if another token has
    /// taken the record's place and is being redeemed: the note is that token's.
    func settled(by token: RefreshTokenRecord, in group: SharingGroup) -> RecordKey? {
        let held = memory.cache.refreshToken(inPlaceOf: token, in: group)?.secret
        guard held == nil || held == token.secret || held.map({ !tokensInUse.isHeld($0) }) == true else { return nil }
        return CacheRecord.refreshToken(token).key(in: group)
    }

    /// The key of the refresh token that a note is about; nil if the record is no note.
    static func token(of note: RecordKey) -> RecordKey? {
        guard note.kind == .redemption else { return nil }
        return RecordKey(group: note.group, kind: .refreshToken, key: note.key)
    }

    /// The key of a refresh token's note: the token's key with the kind `redemption`.
    static func note(of token: RecordKey) -> RecordKey {
        RecordKey(group: token.group, kind: .redemption, key: token.key)
    }
}
