internal import TokenModel

/// The first pass over a cache of MSAL's libraries: it finds the tenants and the identity providers that issued the tokens, and
/// the entries that later entries replace.
struct UnifiedSurvey {
    private(set) var tenants: UnifiedTenants
    private(set) var issuers: UnifiedIssuers
    /// The numbers of the entries that are ignored. Of entries or sections with one name the last is read: otherwise repeated
    /// imports would replace one by the other each time.
    private(set) var superseded: Set<Int> = []
    /// The last entry of each name in the section that is being read, by the name's hash.
    private var names: [Int: Int] = [:]
    /// The entries of each section.
    private var sections: [ExactText: Range<Int>] = [:]

    /// - Throws: `cacheBadFormat` (-51201) if the file is not such a cache.
    init(_ file: ForeignFile, _ clouds: CloudDirectory) throws(TokenError) {
        (tenants, issuers) = (UnifiedTenants(clouds), UnifiedIssuers(clouds))
        try read(file) { survey, step in survey.note(step) }
        (names, sections) = ([:], [:])
        guard !superseded.isEmpty else { return }
        // What a replaced entry said about tenants and providers is ignored too. Few files have such entries; they are read again.
        (tenants, issuers) = (UnifiedTenants(clouds), UnifiedIssuers(clouds))
        try read(file) { _, _ in }
    }

    private mutating func read(
        _ file: ForeignFile, _ note: (inout UnifiedSurvey, UnifiedEntries.Step) -> Void
    ) throws(TokenError) {
        var reader = file.jsonReader(isLast: false)
        try UnifiedEntries.read(&reader) { step, reader throws(TokenError) in
            note(&self, step)
            guard case .entry(let entry) = step else { return }
            guard entry.section == .idToken || entry.section == .account, !superseded.contains(entry.number) else {
                return try reader.skip()
            }
            guard let tree = try reader.value(limit: ValueLimits.unknownFields) else { return }
            if entry.section == .idToken { tenants.add(UnifiedItem(tree)) } else { issuers.add(UnifiedItem(tree)) }
        }
        try reader.finish()
    }

    private mutating func note(_ step: UnifiedEntries.Step) {
        switch step {
        case .section(let section, let number): open(section.rawValue, number..<number)
        case .entry(let entry):
            guard let section = entry.section else { return open(entry.name, entry.number..<entry.number + 1) }
            let earlier = names.updateValue(entry.number, forKey: ExactText(entry.name).hashValue)
            if let earlier { superseded.insert(earlier) }
            let name = ExactText(section.rawValue)
            sections[name] = (sections[name]?.lowerBound ?? entry.number)..<entry.number + 1
        }
    }

    private mutating func open(_ section: String, _ entries: Range<Int>) {
        names = [:]
        if let earlier = sections.updateValue(entries, forKey: ExactText(section)) { superseded.formUnion(earlier) }
    }
}

/// Reads the entries of a cache of MSAL's libraries one by one.
enum UnifiedEntries {
    struct Entry {
        /// The entry's position among all entries.
        var number: Int
        /// The kind of the section; nil for one that the schema does not define, which is one entry as a whole.
        var section: UnifiedSection?
        /// The entry's name in its section, or the name of the section that is the entry.
        var name: String
    }

    enum Step {
        /// A section begins; the number is that of the next entry.
        case section(UnifiedSection, Int)
        /// An entry. The closure must read or skip its value.
        case entry(Entry)
    }

    typealias Body = (Step, inout JSONReader) throws(TokenError) -> Void

    /// - Throws: `cacheBadFormat` (-51201) if the JSON is not such a cache; any error that `body` throws.
    static func read(_ reader: inout JSONReader, _ body: Body) throws(TokenError) {
        var (number, hasSection) = (0, false)
        // The members of another JSON object would be kept, and be in every export.
        func note(_ step: Step, _ reader: inout JSONReader) throws(TokenError) {
            if case .section = step { hasSection = true }
            try body(step, &reader)
        }
        let isObject = reader.kind() == UInt8(ascii: "{")
        switch reader.kind() {
        case UInt8(ascii: "{"):
            try reader.eachMember { name, reader throws(TokenError) in
                try readSection(name, &reader, &number, note)
            }
        case UInt8(ascii: "["):
            try reader.eachElement { reader throws(TokenError) in
                guard var section = DictionarySection(try reader.value()) else { throw noCache }
                try readSection(section.name, &section.reader, &number, note)
            }
        default:
            _ = try reader.value()
            throw noCache
        }
        // MSAL for Python writes an empty object for an empty cache.
        guard hasSection || isObject && number == 0 else { throw noSections }
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

    private static let noSections = TokenError(
        .cacheBadFormat,
        "not a token cache of MSAL: it has none of the sections AccessToken, RefreshToken, IdToken, Account and AppMetadata"
    )

    private static let noCache = TokenError(
        .cacheBadFormat,
        "not a token cache of MSAL: it is no JSON object; for the JSON list of ADAL use the format adal-json")
}

/// A section of a cache of MSAL for .NET 2.x: a named list of texts, each of which is the JSON of an entry.
private struct DictionarySection {
    var name: String
    /// The section in the form of the other libraries.
    var reader: JSONReader

    /// Returns nil if the element is not a section.
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
