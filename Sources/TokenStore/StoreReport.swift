package import TokenModel

/// The state of the store, for `status`, `doctor` and the log.
package struct StoreReport: Sendable, Equatable {
    /// Whether the store has been loaded.
    package enum Phase: Sendable, Equatable {
        case loading
        case open
        /// The key is not available; the error says what to do.
        case locked(TokenError)
    }

    package var phase = Phase.loading
    package var keySource: KeySource?
    /// The place of the key, in words.
    package var keyPlace = ""
    /// The error of the last write; nil if it succeeded.
    package var writeError: TokenError?
    /// Descriptions of the damage found since the start, and of its repair.
    package var notices: [String] = []
    /// The number of times that records were lost while the store was in use. A caller that has them in memory can write
    /// them again.
    package var losses = 0
    /// Whether this process has created the store, since there was none.
    package var isNew = false
    /// The names of the quarantined files, those of earlier runs included.
    package var quarantined: [String] = []
    /// The size of the database after the last commit, in bytes.
    package var size = 0
    /// The count of the TPM that belongs to the store; nil if none counts.
    package var count: UInt64?
    /// The reason why the TPM does not count; nil if it counts.
    package var counterProblem: String?
}

extension TokenError {
    /// The state of a store whose accounts are not known yet.
    package static let storeIsBeingOpened = TokenError(.storeUnavailable, "the store is being opened")

    /// The error of requests for the cache between `ssoctl lock` and `ssoctl unlock`.
    package static let storeWasLocked = TokenError(
        .storeUnavailable, "the store was locked", .run("ssoctl unlock"), reason: .locked)
}
