internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Written down before a refresh token is sent to the token endpoint, and struck out with whatever the answer changes.
///
/// One that is still there at the next start says that an answer may have been lost on the way: if the refresh token is
/// refused then, the store is not damaged, but somebody has to sign in again.
enum RedemptionNote {
    static func of(_ token: RecordKey, at now: Int64) -> StoredRecord {
        StoredRecord(key: key(of: token), body: Array("{\"began_at\":\"\(now)\"}".utf8))
    }

    /// The note's own key: the same as the refresh token's, of another kind.
    static func key(of token: RecordKey) -> RecordKey {
        RecordKey(group: token.group, kind: .redemption, key: token.key)
    }

    /// The refresh token that a note is about; nil when it is no note.
    static func token(of note: RecordKey) -> RecordKey? {
        guard note.kind == .redemption else { return nil }
        return RecordKey(group: note.group, kind: .refreshToken, key: note.key)
    }
}
