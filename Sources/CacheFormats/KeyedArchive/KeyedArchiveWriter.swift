internal import TokenModel

/// Writes archives in the format of `NSKeyedArchiver`, with the class names that ADAL reads. Foundation's own archiver writes
/// other names on Linux.
///
/// Objects are written as they are added; `drain` returns the bytes of those that are complete.
struct KeyedArchiveWriter {
    /// The index of nil.
    static let null = 0
    private var list = BinaryPropertyListWriter()
    /// The indices in the property list of the archive's objects.
    private var objects: [UInt32] = []
    private var texts: [ExactText: Int] = [:]
    private var longTexts: [ExactText: Int] = [:]
    private var classes: [String: Int] = [:]

    init() { objects.append(list.add(.text("$null"))) }

    /// Returns the bytes that were written since the last call, and forgets them.
    mutating func drain() -> [UInt8] { list.drain() }

    /// Writes the rest of an archive with this root object.
    mutating func finish(root: Int) {
        let top = list.add(
            .dictionary([
                (name: "$version", value: .integer(100_000)),
                (name: "$archiver", value: .text("NSKeyedArchiver")),
                (name: "$top", value: .dictionary([(name: "root", value: .uid(root))])),
                (name: "$objects", value: .list(objects.map { .written($0) })),
            ]))
        list.finish(top: top)
    }

    /// Forgets the long texts, which are tokens: those of one user do not occur for the next.
    mutating func forgetLongTexts() { longTexts = [:] }

    /// Adds a text, or nil.
    mutating func add(_ text: String?) -> Int {
        guard let text else { return Self.null }
        let key = ExactText(text)
        if let known = texts[key] ?? longTexts[key] { return known }
        let place = append(.text(text))
        if text.utf8.count <= Self.shortText { texts[key] = place } else { longTexts[key] = place }
        return place
    }

    mutating func add(_ number: Double) -> Int { append(.real(number)) }

    /// Adds a time in seconds since 1970, or nil.
    mutating func add(moment: Int64?) -> Int {
        guard let moment else { return Self.null }
        let time = PropertyList.real(Double(moment) - Double(KeyedArchive.referenceDate))
        return append(.dictionary([(name: "NS.time", value: time), (name: "$class", value: .uid(type("NSDate")))]))
    }

    mutating func add(_ className: String, _ members: [(name: String, value: Int)]) -> Int {
        var list = members.map { (name: $0.name, value: PropertyList.uid($0.value)) }
        list.append((name: "$class", value: .uid(type(className))))
        return append(.dictionary(list))
    }

    /// Adds a dictionary. ADAL requires a mutable one where it changes it.
    mutating func add(dictionary pairs: [(key: Int, value: Int)], isMutable: Bool) -> Int {
        let name = isMutable ? "NSMutableDictionary" : "NSDictionary"
        return append(
            .dictionary([
                (name: "NS.keys", value: .list(pairs.map { .uid($0.key) })),
                (name: "NS.objects", value: .list(pairs.map { .uid($0.value) })),
                (name: "$class", value: .uid(type(name))),
            ]))
    }

    private mutating func type(_ name: String) -> Int {
        if let known = classes[name] { return known }
        let parents = name == "NSMutableDictionary" ? ["NSDictionary", "NSObject"] : ["NSObject"]
        let place = append(
            .dictionary([
                (name: "$classname", value: .text(name)),
                (name: "$classes", value: .list(([name] + parents).map { .text($0) })),
            ]))
        classes[name] = place
        return place
    }

    private mutating func append(_ object: PropertyList) -> Int {
        objects.append(list.add(object))
        return objects.count - 1
    }

    private static let shortText = 256
}
