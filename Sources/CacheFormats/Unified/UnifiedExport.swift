internal import TokenCache
internal import TokenModel

/// Writes a sharing group's records as the JSON that MSAL's libraries share, in pieces: only one of them is in memory.
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
        case opening(section: Int)
        /// The entries of an account; after the last account, those that belong to none.
        case entries(section: Int, account: Int)
        case unknownSections
        case end
    }

    private var place = Place.opening(section: 0)
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
            case .entries(let section, let account): write(section, account, &bytes)
            case .unknownSections: writeUnknownSections(&bytes)
            case .end: return nil
            }
        }
        return bytes
    }

    private mutating func open(_ index: Int, _ bytes: inout [UInt8]) {
        guard index < UnifiedSection.allCases.count else { return place = .unknownSections }
        names = EntryNames()
        isFirstEntry = true
        place = .entries(section: index, account: 0)
        // The agent's own section is written only if it has an entry.
        if UnifiedSection.allCases[index] != .own {
            write(sectionName: UnifiedSection.allCases[index].rawValue, &bytes)
        }
    }

    private mutating func write(_ index: Int, _ account: Int, _ bytes: inout [UInt8]) {
        let section = UnifiedSection.allCases[index]
        guard account < accounts.count else {
            for app in apps {
                guard let (place, item) = records.unified(.appMetadata(app)), place == section else { continue }
                write(item.key(in: section), item.tree, in: section, &bytes)
            }
            for (name, entry) in Self.entries(others, in: section) { write(name, entry, in: section, &bytes) }
            if section != .own || !isFirstEntry { bytes.append(UInt8(ascii: "}")) }
            return place = .opening(section: index + 1)
        }
        place = .entries(section: index, account: account + 1)
        let written = records.entries(of: accounts[account], in: section)
        let opaque = Self.entries(kept[accounts[account]] ?? [], in: section)
        var entries = written + opaque
        if !opaque.isEmpty { entries.sort { $0.name < $1.name } }
        for (name, entry) in entries { write(name, entry, in: section, &bytes) }
    }

    private static func entries(
        _ opaque: [OpaqueRecord], in section: UnifiedSection
    ) -> [(name: String, entry: JSONTree)] {
        opaque.compactMap { entry in
            guard entry.section == section.rawValue, let name = entry.name, let tree = UnifiedRecords.tree(entry.json)
            else { return nil }
            return (name, tree)
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
        body.withUnsafeMutableBytes { wipeMemory($0) }
    }

    private mutating func write(sectionName name: String, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: isFirstSection ? "{" : ","))
        isFirstSection = false
        JSONTree.write(name, to: &bytes)
        bytes += ":{".utf8
    }

    private mutating func writeUnknownSections(_ bytes: inout [UInt8]) {
        for entry in others where entry.name == nil && UnifiedSection(rawValue: entry.section) == nil {
            guard let tree = UnifiedRecords.tree(entry.json) else { continue }
            bytes.append(UInt8(ascii: ","))
            JSONTree.write(entry.section, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            tree.write(to: &bytes)
        }
        bytes += "}\n".utf8
        place = .end
    }
}

/// The names of the entries of a section, by their hashes. Names are unique.
private struct EntryNames {
    private var entries: [Int: Int] = [:]

    /// Returns a name that no other entry has: `name`, or `name` with a number. Libraries identify entries by their fields. Nil if
    /// an equal entry has the name.
    mutating func free(for name: String, _ entry: [UInt8]) -> String? {
        var hasher = Hasher()
        entry.withUnsafeBytes { hasher.combine(bytes: $0) }
        let content = hasher.finalize()
        var (free, number) = (name, 1)
        while let other = entries[free.hashValue] {
            if other == content { return nil }
            number += 1
            free = "\(name)-\(number)"
        }
        entries[free.hashValue] = content
        return free
    }
}
