internal import TokenStore

/// The records of accounts. An account is packed while its tokens are in the store only: its other records take about a seventh of the
/// memory that they take unpacked, and are unpacked for each use. An account with very many records is not packed: each use would unpack
/// all of them.
struct AccountTable: Sendable {
    private enum Entry {
        case packed(PackedAccount)
        case unpacked(Unpacked)
    }

    /// The records of an unpacked account, apart from the table, whose entries are small.
    private final class Unpacked: Sendable {
        // Changed by `AccountTable.change` only, and while there is one reference to it only.
        nonisolated(unsafe) var credentials: AccountCredentials

        init(_ credentials: AccountCredentials) { self.credentials = credentials }
    }

    private var entries: [AccountKey: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }
    var keys: some Collection<AccountKey> { entries.keys }

    func contains(_ account: AccountKey) -> Bool { entries[account] != nil }

    /// Whether a record can be added to an account as a packed one.
    func hasRoom(in account: AccountKey) -> Bool {
        switch entries[account] {
        case .packed(let packed): packed.count < PackedAccount.maximumRecords
        case .unpacked: false
        case nil: true
        }
    }

    /// Whether an account has access tokens or refresh tokens. It is not unpacked.
    func hasCredentials(_ account: AccountKey) -> Bool {
        switch entries[account] {
        case .packed(let packed): packed.contains(.accessToken) || packed.contains(.refreshToken)
        case .unpacked(let unpacked):
            !unpacked.credentials.accessTokens.isEmpty || !unpacked.credentials.refreshTokens.isEmpty
        case nil: false
        }
    }

    /// The number of records that a survey of an account examines: all of a packed account, which are unpacked together. It is not unpacked.
    func surveyedCount(of account: AccountKey) -> Int {
        switch entries[account] {
        case .packed(let packed): Int(packed.count)
        case .unpacked(let unpacked):
            unpacked.credentials.accounts.count + unpacked.credentials.metadata.count
                + unpacked.credentials.refreshTokens.count
        case nil: 0
        }
    }

    /// The records of an account that is not packed; nil for any other.
    func unpackedRecords(of account: AccountKey) -> AccountCredentials? {
        if case .unpacked(let unpacked) = entries[account] { unpacked.credentials } else { nil }
    }

    /// The records of an account; unread if it is packed.
    subscript(account: AccountKey) -> AccountCredentials? {
        switch entries[account] {
        case .packed(let packed): packed.credentials()
        case .unpacked(let unpacked): unpacked.credentials
        case nil: nil
        }
    }

    /// The records of an account that are of some kinds, and perhaps its other records.
    func records(of account: AccountKey, _ kinds: Set<RecordKind>) -> AccountCredentials? {
        switch entries[account] {
        case .packed(let packed): packed.credentials(kinds.contains)
        case .unpacked(let unpacked): unpacked.credentials
        case nil: nil
        }
    }

    /// What a list shows of each account record of an account, in any order. Nothing else of it is unpacked.
    func profiles(of account: AccountKey, _ texts: TextPool) -> [ListedProfile] {
        switch entries[account] {
        case .packed(let packed): packed.profiles(of: account.homeAccountID, texts)
        case .unpacked(let unpacked): unpacked.credentials.accounts.values.map(ListedProfile.init)
        case nil: []
        }
    }

    /// Changes the records of an account, which is unpacked afterwards, or gone if it has no record any more.
    mutating func change(_ account: AccountKey, _ body: (inout AccountCredentials) -> Void) {
        var unpacked = removeUnpacked(account)
        if !isKnownUniquelyReferenced(&unpacked) { unpacked = Unpacked(unpacked.credentials) }
        body(&unpacked.credentials)
        entries[account] = unpacked.credentials.isEmpty ? nil : .unpacked(unpacked)
    }

    /// Removes the records of an account from the table and returns them, so that their storage is not shared while
    /// they are changed. A function of its own, so that the entry is released when it returns.
    @inline(never)
    private mutating func removeUnpacked(_ account: AccountKey) -> Unpacked {
        switch entries.updateValue(.packed(PackedAccount()), forKey: account) {
        case .packed(let packed): Unpacked(packed.credentials())
        case .unpacked(let held): held
        case nil: Unpacked(AccountCredentials())
        }
    }

    /// Adds an unread record to an account that has room for it, and has no such record.
    ///
    /// - Returns: whether the account had an account record before.
    mutating func append(_ record: CacheRecord, to account: AccountKey) -> Bool {
        var packed = PackedAccount()
        if case .packed(let held) = entries[account] { packed = held }
        let isDescribed = packed.contains(.account)
        packed.append(record)
        entries[account] = .packed(packed)
        return isDescribed
    }

    /// Removes the tokens of an account, unless the keys of its records do not follow from their content, so that they could not be found
    /// again. The account is packed afterwards if it has few records.
    mutating func pack(_ account: AccountKey) {
        guard case .unpacked(let unpacked) = entries[account], unpacked.credentials.hasDerivedKeys else { return }
        let packed = PackedAccount(unpacked.credentials)
        let isSmall = packed.count <= PackedAccount.maximumRecords
        entries[account] = isSmall ? .packed(packed) : .unpacked(Unpacked(packed.credentials()))
    }
}

extension AccountTable: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        left.entries.count == right.entries.count && left.keys.allSatisfy { left[$0] == right[$0] }
    }
}
