internal import Crypto
package import PosixFiles
internal import Synchronization
internal import TokenModel

/// A counter of a TPM by which the latest store is distinguished from an earlier copy: it only goes up, and is not in the folder that can be
/// set back.
package final class RollbackCounter: Sendable {
    /// The state of the counter in the TPM.
    enum Reading: Equatable {
        case missing
        /// Of another kind, or with another password.
        case foreign
        /// Made, and not raised yet.
        case unused
        case count(UInt64)
    }

    private let device: Mutex<TPMDevice>
    /// The path of the TPM.
    let name: String
    /// The number of the NV index: one for each user and folder, so that it is found without the store.
    let index: UInt32
    /// Whether the present store is accepted, and counted anew.
    let isReset: Bool

    /// - Parameters:
    ///   - descriptor: the TPM, open for reading and writing.
    ///   - name: its path.
    ///   - directory: that of the store.
    package init(_ descriptor: consuming FileDescriptor, name: String, directory: String, isReset: Bool = false) {
        device = Mutex(TPMDevice(descriptor, name: name))
        self.name = name
        self.isReset = isReset
        let place = "sso-agent \(FileStatus.effectiveUser) \(StorePaths(directory).directory)"
        let hash = SHA256.hash(data: Array(place.utf8)).prefix(4).number(as: UInt32.self)
        index = Self.ownersIndices | hash & 0x3F_FFFF
    }

    /// - Throws: `storeUnavailable` (-53008) if the TPM does not answer, as do all methods.
    func read(_ password: [UInt8]) throws(TokenError) -> Reading {
        let kind = try answer(to: TPMCommand.readPublic(index))
        if kind.isOfNoIndex { return .missing }
        guard kind.isOfCounter else { return .foreign }
        let value = try answer(to: TPMCommand.read(index, password: password))
        if value.isOfWrongPassword { return .foreign }
        if value.isOfNoValue { return .unused }
        guard let count = value.count else { throw failure(value, "reading the counter") }
        return .count(count)
    }

    /// Whether the TPM has counted a store of this folder. A counter without a value, or with an empty password, was left by a start that
    /// was interrupted before its store had a mark.
    func hasCounted() throws(TokenError) -> Bool {
        let kind = try answer(to: TPMCommand.readPublic(index))
        if kind.isOfNoIndex || kind.isOfCounter && !kind.isOfCounterWithValue { return false }
        guard kind.isOfCounter else { return true }
        return try answer(to: TPMCommand.read(index, password: [])).count == nil
    }

    /// Makes the counter, in the place of one that there is, and returns the count that it has when it is raised for the first time.
    func make(_ password: [UInt8]) throws(TokenError) -> UInt64 {
        let last = try lastCount()
        try define(password)
        return last &+ 1
    }

    /// The count above which the next counter begins: that of one with an empty password, which is made and raised for this.
    func lastCount() throws(TokenError) -> UInt64 {
        try define([])
        try increment([])
        return try count([])
    }

    /// Defines the counter, in the place of one that there is. It has no value until it is raised.
    private func define(_ password: [UInt8]) throws(TokenError) {
        try remove()
        let made = try answer(to: TPMCommand.define(index, password: password))
        guard made.isSuccess else { throw failure(made, "making a counter", isOwners: true) }
    }

    /// The count of a counter that has been raised.
    func count(_ password: [UInt8]) throws(TokenError) -> UInt64 {
        let value = try answer(to: TPMCommand.read(index, password: password))
        guard let count = value.count else { throw failure(value, "reading the counter") }
        return count
    }

    func increment(_ password: [UInt8]) throws(TokenError) {
        let raised = try answer(to: TPMCommand.increment(index, password: password))
        guard raised.isSuccess else { throw failure(raised, "raising the counter") }
    }

    /// Removes the counter, if there is one.
    func remove() throws(TokenError) {
        let removed = try answer(to: TPMCommand.undefine(index))
        guard removed.isSuccess || removed.isOfNoIndex else {
            throw failure(removed, "removing the counter", isOwners: true)
        }
    }

    private func answer(to command: [UInt8]) throws(TokenError) -> TPMAnswer {
        try device.withLock { device in
            Result { () throws(TokenError) in try device.answer(to: command) }
        }.get()
    }

    /// - Parameter isOwners: whether the command needs the password of the TPM's owner, which is empty on most machines.
    private func failure(_ answer: TPMAnswer, _ work: String, isOwners: Bool = false) -> TokenError {
        let reason = isOwners && answer.isOfWrongPassword ? ": the TPM's owner has a password" : ""
        return TokenError(
            .storeUnavailable,
            "the TPM \(name) has refused \(work), with code 0x\(String(answer.code, radix: 16)) of TPM 2.0"
                + reason)
    }

    /// The first number of an index of the owner's.
    private static let ownersIndices: UInt32 = 0x0180_0000
}
