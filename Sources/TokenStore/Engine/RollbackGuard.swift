internal import TokenModel

/// The refusal of earlier copies of the store.
///
/// The state of the store has a count, and so has a TPM. Each opening of the store, each removal of a refresh token and each change of the
/// key raises both: first that of the state, and when that is on the disk, the TPM's. So the TPM's is the same, or one less if the agent was
/// killed in between; it is higher if the folder has been set back to an earlier copy.
extension StoreEngine {
    /// Compares the counts, and counts this opening.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the store is an earlier copy, or the TPM does not answer.
    func refuseEarlierCopy() throws(TokenError) {
        guard let counter = options.counter else { return }
        if let newMark, !hasNewMark { return begin(with: newMark) }
        guard let mark = ledger.state.mark, !isCountReset else { return try beginCounting(counter) }
        let count = try acceptedCount(mark, counter)
        note { () throws(TokenError) in try raise(mark, from: count, counter) }
    }

    /// Counts a commit that removes a refresh token: a copy from before would bring it back.
    func count(_ changes: some Sequence<StoreChange>) {
        guard options.counter != nil else { return }
        if let newMark, !hasNewMark { return begin(with: newMark) }
        if changes.contains(where: \.removesRefreshTokens) { countChange() }
    }

    /// Whether the state has the mark of the counter that this process has made.
    private var hasNewMark: Bool { newMark?.password == ledger.state.mark?.password }

    /// Whether the present store is accepted, whatever the TPM has counted: once in this process.
    private var isCountReset: Bool { options.counter?.isReset == true && report.count == nil }

    /// The count of the TPM, if the store is the latest one.
    private func acceptedCount(_ mark: RollbackMark, _ counter: RollbackCounter) throws(TokenError) -> UInt64 {
        guard case .count(let count) = try counter.read(mark.password), count >= mark.count || count &+ 1 == mark.count
        else {
            throw refusal("was counted by another TPM or in another folder: \(counter.name) has no counter of it")
        }
        guard count <= mark.count else {
            throw refusal(
                "is an earlier copy: the TPM \(counter.name) has counted to \(count), and the store to \(mark.count)")
        }
        return count
    }

    /// Makes a counter for a store that has none.
    private func beginCounting(_ counter: RollbackCounter) throws(TokenError) {
        let isNew = try counter.read([]) == .missing
        guard isNew || isCountReset else {
            throw refusal("has no count, although the TPM \(counter.name) has counted a store in this folder")
        }
        let password = (0..<RollbackMark.passwordLength).map { _ in UInt8.random(in: 0...255) }
        let mark = RollbackMark(password: password, count: try counter.begin(password))
        newMark = mark
        begin(with: mark)
    }

    /// Writes the mark of a counter that has been made. If that fails, the next commit writes it.
    private func begin(with mark: RollbackMark) {
        note { () throws(TokenError) in
            try save(mark)
            return mark.count
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
    private func raise(
        _ mark: RollbackMark, from count: UInt64, _ counter: RollbackCounter
    ) throws(TokenError) -> UInt64 {
        var mark = mark
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
    fileprivate var removesRefreshTokens: Bool {
        switch self {
        case .put: false
        case .delete(let key): key.kind == .refreshToken
        case .deleteGroup: true
        }
    }
}
