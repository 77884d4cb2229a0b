internal import TokenModel

/// The refusal of earlier copies of the store.
///
/// The state of the store has a count, and so has a TPM. Each opening of the store, each removal of a refresh token and each change of the
/// key raises both: first that of the state, and when that is on the disk, the TPM's. So the TPM's is the same, or one less if the agent was
/// killed in between; it is higher if the folder has been set back to an earlier copy. A new counter has no value until the state has its
/// mark.
extension StoreEngine {
    /// Compares the counts, and counts this opening.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the store is an earlier copy, or the TPM does not answer.
    func refuseEarlierCopy() throws(TokenError) {
        guard let counter = options.counter else { return }
        if let newMark, !hasNewMark { return begin(with: newMark, counter) }
        guard let mark = ledger.state.mark, !isCountReset else { return try beginCounting(counter) }
        let count = try acceptedCount(mark, counter)
        note { () throws(TokenError) in try raise(mark, from: count, counter) }
    }

    /// Counts a commit that removes a refresh token: a copy from before would bring it back.
    func count(_ changes: some Sequence<StoreChange>) {
        guard let counter = options.counter else { return }
        if let newMark, !hasNewMark { return begin(with: newMark, counter) }
        if changes.contains(where: \.removesRefreshTokens) { countChange() }
    }

    /// Whether the state has the mark of the counter that this process has made.
    private var hasNewMark: Bool { newMark?.password == ledger.state.mark?.password }

    /// Whether the present store is accepted, whatever the TPM has counted: once in this process.
    private var isCountReset: Bool { options.counter?.isReset == true && report.count == nil }

    /// The count of the TPM, if the store is the latest one; nil if its counter has never been raised.
    private func acceptedCount(_ mark: RollbackMark, _ counter: RollbackCounter) throws(TokenError) -> UInt64? {
        switch try counter.read(mark.password) {
        // The agent was killed after it had written the mark.
        case .unused: return nil
        case .count(let count) where count > mark.count:
            throw refusal(
                "is an earlier copy: the TPM \(counter.name) has counted to \(count), and the store to \(mark.count)")
        case .count(let count) where count == mark.count || count &+ 1 == mark.count: return count
        case .count, .missing, .foreign:
            throw refusal(
                "was counted by another TPM or in another folder: \(counter.name) has no counter of it, as after it was "
                    + "cleared")
        }
    }

    /// Refuses a store without a count if the TPM has counted one. Called before a new store is written in the place of another, too.
    ///
    /// - Parameter problem: why there is a new store, in words that can follow “the store”; nil if there is none.
    func refuseUncounted(_ problem: String? = nil) throws(TokenError) {
        guard let counter = options.counter, !isCountReset, try counter.hasCounted() else { return }
        let subject = problem.map { "\($0), and a new one " } ?? ""
        throw refusal("\(subject)has no count, although the TPM \(counter.name) has counted a store in this folder")
    }

    /// Makes a counter for a store that has none.
    private func beginCounting(_ counter: RollbackCounter) throws(TokenError) {
        try refuseUncounted()
        let password = (0..<RollbackMark.passwordLength).map { _ in UInt8.random(in: 0...255) }
        let mark = RollbackMark(password: password, count: try counter.make(password))
        newMark = mark
        begin(with: mark, counter)
    }

    /// Writes the mark of a counter that has been made, and raises the counter. If that fails, the next commit does it.
    private func begin(with mark: RollbackMark, _ counter: RollbackCounter) {
        note { () throws(TokenError) in
            try save(mark)
            return try raise(mark, from: nil, counter)
        }
    }

    /// Raises both counts. If one of them cannot be raised, the report says so, and the other stays at most one behind.
    func countChange() {
        guard let counter = options.counter, let mark = ledger.state.mark else { return }
        note { () throws(TokenError) in
            try raise(mark, from: try acceptedCount(mark, counter), counter)
        }
    }

    /// Raises both counts, or the TPM's if it is one behind, and returns them.
    ///
    /// - Parameter count: the TPM's; nil if its counter has never been raised.
    private func raise(
        _ mark: RollbackMark, from count: UInt64?, _ counter: RollbackCounter
    ) throws(TokenError) -> UInt64 {
        var mark = mark
        guard let count else {
            try counter.increment(mark.password)
            let first = try counter.count(mark.password)
            // The TPM has removed a counter of somebody else's meanwhile.
            if first != mark.count {
                mark.count = first
                try save(mark)
            }
            return first
        }
        if count == mark.count {
            mark.count &+= 1
            try save(mark)
        }
        try counter.increment(mark.password)
        return mark.count
    }

    /// Puts the count into the report, or what keeps it from being raised.
    private func note(_ count: () throws(TokenError) -> UInt64) {
        do throws(TokenError) {
            (report.count, report.counterProblem) = (try count(), nil)
        } catch {
            report.counterProblem = error.message
        }
    }

    /// Writes the state with a mark.
    func save(_ mark: RollbackMark) throws(TokenError) {
        let derived = try derivedKeys()
        let database = try writableDatabase(derived)
        var after = ledger
        after.set(mark)
        do throws(TokenError) {
            let state = try after.state.sealed(derived)
            try database.transaction { () throws(TokenError) in try database.write(state) }
            ledger = after
        } catch {
            // The state may have reached the disk: its number is not given out again, and a new mark must not be overwritten.
            ledger.markUsed(upTo: after.state.counter)
            if ledger.state.mark?.password != mark.password { ledger.set(mark) }
            throw error
        }
    }

    private func refusal(_ reason: String) -> TokenError {
        var error = TokenError(
            .storeUnavailable,
            "the store in \(paths.directory) \(reason); if you have put it there yourself, as from a backup, start the agent once "
                + "with --reset-rollback-counter")
        error.details.saysRemedyInWords = true
        return error
    }
}

extension StoreChange {
    /// Whether the change can remove a refresh token.
    package var removesRefreshTokens: Bool {
        switch self {
        case .put: false
        case .delete(let key): key.kind == .refreshToken
        case .deleteGroup: true
        }
    }
}
