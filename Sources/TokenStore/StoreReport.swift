package import TokenModel

/// How the store is: for `status`, `doctor` and the log.
package struct StoreReport: Sendable, Equatable {
    /// Whether there is a key.
    package enum Phase: Sendable, Equatable {
        case loading
        case open
        /// The key cannot be had; the error says what to do.
        case locked(TokenError)
    }

    package var phase = Phase.loading
    package var keySource: KeySource?
    /// Where the source keeps its key, for people.
    package var keyPlace = ""
    /// Why nothing can be written at the moment; nil when it can.
    package var unwritable: TokenError?
    /// What was damaged since the start, and what became of it.
    package var notices: [String] = []
    /// How often records were lost while the store was in use. Whoever has them in memory can write them again.
    package var losses = 0
    /// The files that lie in quarantine, from now or from earlier.
    package var quarantined: [String] = []
}
