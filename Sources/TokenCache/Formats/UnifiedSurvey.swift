internal import TokenModel

/// What has to be known of a cache of MSAL's libraries before its entries can be read: which tenants issued its tokens, and
/// which entries do not count.
struct UnifiedSurvey {
    private(set) var tenants: UnifiedTenants
    /// The numbers of the entries that do not count: of entries, or sections, of one name the last does, since two could take
    /// each other's place for ever.
    private(set) var superseded: Set<Int> = []
    private let clouds: CloudDirectory
    /// The last entry of each name in the section that is being read, by the name's hash.
    private var names: [Int: Int] = [:]
    /// The entries of each section.
    private var sections: [String: Range<Int>] = [:]

    /// - Throws: `cacheBadFormat` (-51201) when the file is no such cache.
    init(_ file: ForeignFile, _ clouds: CloudDirectory) throws(TokenError) {
        self.clouds = clouds
        tenants = UnifiedTenants(clouds)
        var reader = JSONReader(ByteFeed(file, isLast: false))
        try UnifiedEntries.read(&reader) { step, reader throws(TokenError) in
            note(step)
            guard case .entry(let entry) = step else { return }
            guard entry.section == .idToken else { return try reader.skip() }
            if let tree = try reader.value(limit: ValueLimits.unknownFields) { tenants.add(UnifiedItem(tree)) }
        }
        try reader.finish()
        (names, sections) = ([:], [:])
    }

    private mutating func note(_ step: UnifiedEntries.Step) {
        switch step {
        case .section(let section, let number): open(section.rawValue, number..<number)
        case .entry(let entry):
            guard let section = entry.section else { return open(entry.name, entry.number..<entry.number + 1) }
            let earlier = names.updateValue(entry.number, forKey: entry.name.hashValue)
            if let earlier { superseded.insert(earlier) }
            sections[section.rawValue] = (sections[section.rawValue]?.lowerBound ?? entry.number)..<entry.number + 1
        }
    }

    private mutating func open(_ section: String, _ entries: Range<Int>) {
        names = [:]
        if let earlier = sections.updateValue(entries, forKey: section) { superseded.formUnion(earlier) }
        if section == UnifiedSection.idToken.rawValue { tenants = UnifiedTenants(clouds) }
    }
}

/// The entries of a cache of MSAL's libraries, one after the other.
enum UnifiedEntries {
    struct Entry {
        /// Its place among all of them.
        var number: Int
        /// Nil for a section that is not the schema's, which is one entry as a whole.
        var section: UnifiedSection?
        /// Its name in the section, or the section's.
        var name: String
    }

    enum Step {
        /// A section begins; the number is that of the next entry.
        case section(UnifiedSection, Int)
        /// An entry, whose value the reader has to read or skip.
        case entry(Entry)
    }

    typealias Body = (Step, inout JSONReader) throws(TokenError) -> Void

    /// - Throws: `cacheBadFormat` (-51201) when the reader's JSON is no such cache; what `body` throws.
    static func read(_ reader: inout JSONReader, _ body: Body) throws(TokenError) {
        var number = 0
        switch reader.kind() {
        case UInt8(ascii: "{"):
            try reader.eachMember { name, reader throws(TokenError) in
                try readSection(name, &reader, &number, body)
            }
        case UInt8(ascii: "["):
            try reader.eachElement { reader throws(TokenError) in
                guard var section = DictionarySection(try reader.value()) else { throw noCache }
                try readSection(section.name, &section.reader, &number, body)
            }
        default:
            _ = try reader.value()
            throw noCache
        }
    }

    private static func readSection(
        _ name: String, _ reader: inout JSONReader, _ number: inout Int, _ body: Body
    ) throws(TokenError) {
        guard let section = UnifiedSection(rawValue: name), reader.kind() == UInt8(ascii: "{") else {
            defer { number += 1 }
            return try body(.entry(Entry(number: number, section: nil, name: name)), &reader)
        }
        try body(.section(section, number), &reader)
        try reader.eachMember { name, reader throws(TokenError) in
            defer { number += 1 }
            try body(.entry(Entry(number: number, section: section, name: name)), &reader)
        }
    }

    private static let noCache = TokenError(
        .cacheBadFormat,
        "not a token cache of MSAL: it is no JSON object; for the JSON list of ADAL use the format adal-json")
}

/// MSAL .NET 2.x wrote a list of named lists of texts that hold the entries.
private struct DictionarySection {
    var name: String
    /// The section as others write it.
    var reader: JSONReader

    /// Nil when the element is none.
    init?(_ element: JSONTree) {
        guard let key = element["Key"]?.string else { return nil }
        name = Self.names[key] ?? key
        let entries = (element["Value"]?.values ?? []).enumerated().compactMap { index, value -> JSONTree.Member? in
            guard let json = value.string, let item = try? JSONReader.read(Array(json.utf8)) else { return nil }
            return JSONTree.Member(name: "\(index)", value: item)
        }
        reader = JSONReader(ByteFeed(Array(JSONTree.object(entries).json.utf8)))
    }

    private static let names = [
        "access_tokens": "AccessToken", "refresh_tokens": "RefreshToken", "id_tokens": "IdToken",
        "accounts": "Account", "app_metadata": "AppMetadata",
    ]
}
