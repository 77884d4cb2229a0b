internal import TokenModel
internal import TokenStore

/// A sharing group's part of the cache as the JSON that MSAL's libraries share, piece by piece: the whole of it is never in
/// memory.
///
/// Sections and entries stand in a fixed order, so that the same cache gives the same text: account by account, and those of one
/// account by name. What is kept for other libraries stands with the account that it names, or at the end of its section.
struct UnifiedExport {
    private let records: UnifiedRecords
    private let owners: [OwnerID]
    private let apps: [AppMetadataRecord]
    /// What is kept for other libraries, by the account that it names.
    private var kept: [String: [CarriedRecord]] = [:]
    /// What is kept and names no account that is in the cache.
    private var others: [CarriedRecord] = []

    /// What comes next.
    private enum Place {
        case opening(section: Int)
        /// The entries of an account; behind the last one, those that belong to no account.
        case entries(section: Int, owner: Int)
        case unknownSections
        case end
    }

    private var place = Place.opening(section: 0)
    private var isFirstSection = true
    private var isFirstEntry = true
    private var names = EntryNames()

    init(_ partition: Partition, clouds: CloudDirectory, now: Int64) {
        records = UnifiedRecords(partition: partition, clouds: clouds, now: now)
        owners = partition.owners.keys.sorted { $0.key < $1.key }
        apps = partition.apps.values.sorted { $0.key < $1.key }
        for entry in partition.carried.values.sorted(by: { $0.key < $1.key }) {
            if let home = entry.homeAccountID.flatMap(HomeAccountID.init), partition.owners[.home(home)] != nil {
                kept[home.text, default: []].append(entry)
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
            case .entries(let section, let owner): write(section, owner, &bytes)
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
        place = .entries(section: index, owner: 0)
        // The agent's own section is written when there is something in it.
        if UnifiedSection.allCases[index] != .own {
            write(sectionName: UnifiedSection.allCases[index].rawValue, &bytes)
        }
    }

    private mutating func write(_ index: Int, _ owner: Int, _ bytes: inout [UInt8]) {
        let section = UnifiedSection.allCases[index]
        guard owner < owners.count else {
            for app in apps {
                guard let (place, item) = records.unified(.appMetadata(app)), place == section else { continue }
                write(item.key(in: section), .object(item.members), in: section, &bytes)
            }
            for (name, entry) in Self.entries(others, in: section) { write(name, entry, in: section, &bytes) }
            if section != .own || !isFirstEntry { bytes.append(UInt8(ascii: "}")) }
            return place = .opening(section: index + 1)
        }
        place = .entries(section: index, owner: owner + 1)
        let written = records.entries(of: owners[owner], in: section)
        let carried = Self.entries(owners[owner].homeAccountID.flatMap { kept[$0.text] } ?? [], in: section)
        var entries = written + carried
        if !carried.isEmpty { entries.sort { $0.name < $1.name } }
        for (name, entry) in entries { write(name, entry, in: section, &bytes) }
    }

    private static func entries(
        _ carried: [CarriedRecord], in section: UnifiedSection
    ) -> [(name: String, entry: JSONTree)] {
        carried.compactMap { entry in
            guard entry.section == section.rawValue, let name = entry.name, let tree = UnifiedRecords.tree(entry.json)
            else { return nil }
            return (name, tree)
        }
    }

    private mutating func write(
        _ name: String, _ entry: JSONTree, in section: UnifiedSection, _ bytes: inout [UInt8]
    ) {
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

/// The names of a section's entries, by their hashes: no two entries go by one.
private struct EntryNames {
    private var entries: [Int: Int] = [:]

    /// A name that is not taken yet: the libraries know entries by what they hold. Nil where the same entry is there already.
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
