internal import TokenCache
internal import TokenModel

/// Writes a sharing group's records as the JSON that MSAL's libraries share, in pieces: only one of them, an entry, is in memory.
///
/// Sections and entries are in a fixed order, so that the same cache gives the same text: entries by account, and those of one
/// account by name. Opaque records follow the account that they name, or stand at the end of their section.
struct UnifiedExport {
    private let records: UnifiedRecords
    private let accounts: [AccountKey]
    private let apps: [AppMetadataRecord]
    /// The opaque records that name an account of the cache, by that account.
    private var kept: [AccountKey: [OpaqueRecord]] = [:]
    /// The other opaque records.
    private var others: [OpaqueRecord] = []

    /// The piece that is written next.
    private enum Place {
        case opening(UnifiedSection)
        /// The first of the entries of an account; after the last account, of those that belong to none.
        case account(UnifiedSection, account: Int)
        /// An entry of that account.
        case entry(UnifiedSection, account: Int, entry: Int)
        case unknownSection(Int)
        case end
    }

    private var place = Place.opening(.account)
    private var entries = ExportedEntries()
    private var isFirstSection = true
    private var isFirstEntry = true
    private var names = EntryNames()

    init(_ partition: Partition, clouds: CloudDirectory, now: Int64) {
        records = UnifiedRecords(partition: partition, clouds: clouds, now: now)
        accounts = partition.accountKeys.sorted { $0.key < $1.key }
        apps = partition.apps.values.sorted { $0.key < $1.key }
        for entry in partition.opaqueRecords.values.sorted(by: { $0.key < $1.key }) {
            if let home = entry.homeAccountID.flatMap(HomeAccountID.init),
                let account = partition.accounts(with: home).first
            {
                kept[account, default: []].append(entry)
            } else {
                others.append(entry)
            }
        }
    }

    /// The next piece; nil at the end.
    mutating func next() -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.isEmpty {
            switch place {
            case .opening(let section): open(section, &bytes)
            case .account(let section, let account): begin(account, in: section)
            case .entry(let section, let account, let entry): write(entry, of: account, in: section, &bytes)
            case .unknownSection(let index): writeUnknownSection(index, &bytes)
            case .end: return nil
            }
        }
        return bytes
    }

    private mutating func open(_ section: UnifiedSection, _ bytes: inout [UInt8]) {
        names = EntryNames()
        isFirstEntry = true
        place = .account(section, account: 0)
        // The agent's own section is written only if it has an entry.
        if section != .own { write(sectionName: section.rawValue, &bytes) }
    }

    private mutating func begin(_ account: Int, in section: UnifiedSection) {
        entries =
            account < accounts.count
            ? records.entries(of: accounts[account], with: kept[accounts[account]] ?? [], in: section)
            : records.entries(of: apps, with: others, in: section)
        place = .entry(section, account: account, entry: 0)
    }

    private mutating func write(
        _ index: Int, of account: Int, in section: UnifiedSection, _ bytes: inout [UInt8]
    ) {
        if index < entries.list.count {
            place = .entry(section, account: account, entry: index + 1)
            let entry = entries.list[index]
            if let tree = records.tree(of: entry, among: entries) { write(entry.name, tree, in: section, &bytes) }
        } else if account < accounts.count {
            place = .account(section, account: account + 1)
        } else {
            entries = ExportedEntries()
            if section != .own || !isFirstEntry { bytes.append(UInt8(ascii: "}")) }
            let next = UnifiedSection.allCases.drop { $0 != section }.dropFirst().first
            place = next.map(Place.opening) ?? .unknownSection(0)
        }
    }

    private mutating func write(_ name: String, _ entry: JSONTree, in section: UnifiedSection, _ bytes: inout [UInt8]) {
        var body: [UInt8] = []
        entry.write(to: &body)
        guard let name = names.free(for: name, body) else { return }
        if section == .own, isFirstEntry { write(sectionName: section.rawValue, &bytes) }
        if !isFirstEntry { bytes.append(UInt8(ascii: ",")) }
        isFirstEntry = false
        JSONTree.write(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        bytes += body
        body.wipe()
    }

    private mutating func write(sectionName name: String, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: isFirstSection ? "{" : ","))
        isFirstSection = false
        JSONTree.write(name, to: &bytes)
        bytes += ":{".utf8
    }

    private mutating func writeUnknownSection(_ index: Int, _ bytes: inout [UInt8]) {
        guard index < others.count else {
            bytes += "}\n".utf8
            return place = .end
        }
        place = .unknownSection(index + 1)
        let entry = others[index]
        guard entry.name == nil, UnifiedSection(rawValue: entry.section) == nil,
            let tree = UnifiedRecords.tree(entry.json)
        else { return }
        bytes.append(UInt8(ascii: ","))
        JSONTree.write(entry.section, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        tree.write(to: &bytes)
    }
}

/// The names of the entries of a section, by the hashes of their bytes. Names are unique.
private struct EntryNames {
    private var entries: [Int: Int] = [:]

    /// Returns a name that no other entry has: `name`, or `name` with a number. Libraries identify entries by their fields. Nil if
    /// an equal entry has the name.
    mutating func free(for name: String, _ entry: [UInt8]) -> String? {
        var hasher = Hasher()
        entry.withUnsafeBytes { hasher.combine(bytes: $0) }
        let content = hasher.finalize()
        var (free, number) = (name, 1)
        while let other = entries[ExactText(free).hashValue] {
            if other == content { return nil }
            number += 1
            free = "\(name)-\(number)"
        }
        entries[ExactText(free).hashValue] = content
        return free
    }
}
