internal import Dispatch
internal import Synchronization
package import TokenModel

/// The use of a keyring, which may ask its user for a password, or not answer at all. One program uses it at a time, in the order in which
/// the store's queue has asked for it.
///
/// Only what needs a key before it can go on blocks the store's queue: a load, and the creation of a store. What is saved or deleted has a
/// queue of its own, so that no commit waits for the keyring, and a deletion that was begun earlier deletes no later key.
final class KeyringActivity: Sendable {
    private let queue = DispatchQueue(label: "sso-agent.keyring", qos: .userInitiated)
    private let storeWaits = Atomic<Bool>(false)
    private let isRunning = Atomic<Bool>(false)
    private let state = Mutex(State())

    private struct State {
        /// Whether the last use that was asked for is a deletion, which has not ended.
        var endsWithDeletion = false
        var reporter: (@Sendable (String) -> Void)?
    }

    /// Whether the store's queue waits for the keyring.
    var isAsked: Bool { storeWaits.load(ordering: .relaxed) }

    /// Whether a program is using the keyring.
    var isInUse: Bool { isRunning.load(ordering: .relaxed) }

    /// Records that a program begins to use the keyring, until `end`.
    func begin() { isRunning.store(true, ordering: .relaxed) }

    func end() { isRunning.store(false, ordering: .relaxed) }

    /// Passes later problems of what does not block the store's queue to a function.
    func report(to reporter: @escaping @Sendable (String) -> Void) { state.withLock { $0.reporter = reporter } }

    /// Uses the keyring on the store's queue, which waits for earlier uses, too.
    func exclusively<Value>(_ work: () throws(TokenError) -> Value) throws(TokenError) -> Value {
        state.withLock { $0.endsWithDeletion = false }
        storeWaits.store(true, ordering: .relaxed)
        defer { storeWaits.store(false, ordering: .relaxed) }
        return try queue.sync { Result { () throws(TokenError) in try work() } }.get()
    }

    /// Begins to use the keyring after earlier uses, and does not wait for it.
    func start(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.endsWithDeletion = false }
        queue.async(execute: work)
    }

    /// Begins to use the keyring as above.
    ///
    /// - Parameter problem: what is reported if it fails.
    func start(orReport problem: String, _ work: @escaping @Sendable () throws(TokenError) -> Void) {
        start { self.perform(work, orReport: problem) }
    }

    /// Begins a deletion, unless one is in progress or waits after everything else.
    ///
    /// - Parameter problem: what is reported if it fails.
    func startDeletion(orReport problem: String, _ work: @escaping @Sendable () throws(TokenError) -> Void) {
        let isNeeded = state.withLock { state in
            defer { state.endsWithDeletion = true }
            return !state.endsWithDeletion
        }
        guard isNeeded else { return }
        queue.async {
            self.perform(work, orReport: problem)
            self.state.withLock { $0.endsWithDeletion = false }
        }
    }

    private func perform(_ work: () throws(TokenError) -> Void, orReport problem: String) {
        do throws(TokenError) {
            try work()
        } catch {
            let reporter = state.withLock(\.reporter)
            reporter?(problem)
        }
    }

    /// Waits until the uses that were asked for have ended.
    func waitForUses() async { await withCheckedContinuation { done in queue.async { done.resume() } } }
}

extension TokenError {
    /// The error of requests for the cache if the keyring does not return the store's key.
    package static let keyringUnavailable = TokenError(
        .storeUnavailable,
        "the Secret Service does not return the store's key; “ssoctl unlock --help” says what to do if it does not have it any more; "
            + "otherwise unlock the keyring", .then("ssoctl unlock"))

    /// The error if the keyring has a key of the store that does not open it. It may have another one that does.
    static let wrongKeyInKeyring = TokenError(
        .storeUnavailable,
        "the Secret Service returns another key than the one that the store was sealed with; if there are several keys named sso-agent, as "
            + "in two keyrings, delete the wrong one; “ssoctl unlock --help” says what to do if there is no other; otherwise unlock all "
            + "keyrings", .then("ssoctl unlock"))

    /// The error of a change of the key if the keyring does not save the new one. The store is open.
    static let keyringRefusal = TokenError(
        .storeUnavailable, "the Secret Service does not answer, or its keyring is locked; unlock the keyring",
        .then("ssoctl key set secret-service"))

    /// The error of a change of the key if the program saves a key, and does not return it.
    static let keyringLoss = TokenError(
        .storeUnavailable,
        "the Secret Service does not return the key that it has saved; the key of the store was not changed")

    /// The error of a change of the key if keys are in several keyrings, of which any may be found later.
    static let severalKeysInKeyring = TokenError(
        .storeUnavailable,
        "the Secret Service has several keys of this store, as in two keyrings; delete all of them that are named sso-agent but the one in "
            + "the default keyring", .then("ssoctl key set secret-service"))

    /// The error of a change of the key if the keyring has a key with the path of the store, which the store does not use.
    static func keyOfAnotherStore(_ directory: String) -> TokenError {
        TokenError(
            .storeUnavailable,
            "the Secret Service has a key of another store that was in \(directory), and is lost without it; if you do not need that store "
                + "any more, to delete the key",
            .purpose("secret-tool clear application sso-agent store \(directory.shellWord)"))
    }

    /// The error of a change of the key while another one waits for the keyring.
    static func keyIsBeingChanged(_ source: KeySource) -> TokenError {
        TokenError(
            .storeUnavailable,
            "the key of the store is being changed, and the Secret Service has not answered yet; unlock the keyring, or wait for some "
                + "minutes",
            .then("ssoctl key set \(source.name)"))
    }

    /// The error of a change of the key if the store was locked before the keyring had the new one, which is not used.
    static let lockedDuringChange = TokenError(
        .storeUnavailable,
        "the store was locked before the Secret Service had saved the new key, and the store's key was not changed; unlock the store",
        .then("ssoctl key set secret-service"))
}
