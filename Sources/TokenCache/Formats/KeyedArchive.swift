internal import TokenModel

/// The object graph of an `NSKeyedArchiver` archive, walked by hand.
///
/// Foundation's own unarchiver traps on archives that are not as it expects. This one opens only what it is asked for,
/// never recurses, and stops when a file makes it do far more than its size warrants.
struct KeyedArchive {
    /// An object of a class, with its members' places.
    struct Instance {
        /// The class's own name, without a module.
        var className: String
        var members: [String: Int]
    }

    /// The place of the root object.
    let root: Int
    private let list: BinaryPropertyList
    private let objects: [Int]
    private var texts: [Int: String] = [:]
    private var classNames: [Int: String] = [:]
    private var effortLeft: Int

    /// - Throws: `cacheBadFormat` (-51201) when `bytes` are no keyed archive.
    init(_ bytes: [UInt8]) throws(TokenError) {
        list = try BinaryPropertyList(bytes)
        effortLeft = 4096 + 16 * bytes.count
        guard case .dictionary(let keys, let values) = try list.object(at: list.top) else { throw Self.malformed }
        var members: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            if case .text(let name) = try list.object(at: key) { members[name] = value }
        }
        guard let top = members["$top"], let objects = members["$objects"],
            case .list(let places) = try list.object(at: objects),
            case .dictionary(let names, let roots) = try list.object(at: top)
        else { throw Self.malformed }
        self.objects = places
        var root: Int?
        for (name, place) in zip(names, roots) where try list.object(at: name) == .text("root") { root = place }
        guard let root else { throw Self.malformed }
        self.root = root
    }

    /// The text at a place, plain or as an `NSString` object; nil when there is none.
    mutating func text(_ place: Int?) throws(TokenError) -> String? {
        guard let place else { return nil }
        if let plain = try plainText(place) { return plain }
        guard let inner = try instance(place)?.members["NS.string"], let text = try plainText(inner) else { return nil }
        texts[place] = text
        return text
    }

    /// The number at a place.
    mutating func number(_ place: Int?) throws(TokenError) -> Double? {
        guard let place else { return nil }
        switch try open(place) {
        case .integer(let value): return Double(value)
        case .real(let value): return value
        case .text(let text): return Double(text)
        default: return nil
        }
    }

    /// The moment at a place, in whole seconds since 1970; nil also when no clock shows such a time.
    mutating func moment(_ place: Int?) throws(TokenError) -> Int64? {
        guard let place else { return nil }
        var seconds: Double?
        switch try open(place) {
        case .date(let value): seconds = value
        case .dictionary(let keys, let values):
            seconds = try number(try instance(keys, values)?.members["NS.time"])
        default: break
        }
        guard let seconds, let whole = Int64(exactly: seconds.rounded(.down)), whole.magnitude < Self.farAway else {
            return nil
        }
        return whole + Self.referenceDate
    }

    /// The instance at a place; nil when something else or nothing is there.
    mutating func instance(_ place: Int?) throws(TokenError) -> Instance? {
        guard let place, case .dictionary(let keys, let values) = try open(place) else { return nil }
        return try instance(keys, values)
    }

    /// The places in an array or set.
    mutating func values(_ instance: Instance) throws(TokenError) -> [Int] {
        guard let place = instance.members["NS.objects"], case .list(let values) = try open(place) else { return [] }
        return values
    }

    /// The places in a dictionary; nil when the instance is none.
    mutating func pairs(_ instance: Instance) throws(TokenError) -> [(key: Int, value: Int)]? {
        guard instance.className.hasSuffix("Dictionary"), let place = instance.members["NS.keys"],
            case .list(let keys) = try open(place)
        else { return nil }
        return zip(keys, try values(instance)).map { (key: $0, value: $1) }
    }

    /// The object at a place, through a reference where there is one; `.null` for the archive's nil.
    private mutating func open(_ place: Int) throws(TokenError) -> BinaryPropertyList.Object {
        var object = try list.object(at: place)
        if case .uid(let uid) = object {
            guard uid != 0 else { return .null }
            guard uid < objects.count else { throw Self.malformed }
            object = try list.object(at: objects[uid])
        }
        switch object {
        case .list(let places): effortLeft -= places.count
        case .dictionary(let keys, _): effortLeft -= keys.count
        default: break
        }
        effortLeft -= 1
        guard effortLeft >= 0 else {
            throw TokenError(.cacheBadFormat, "not an ADAL archive: its objects refer to one another without end")
        }
        return object
    }

    /// A text that is no object: names are, and an object in a name's place could lead round in a circle.
    private mutating func plainText(_ place: Int) throws(TokenError) -> String? {
        if let known = texts[place] { return known }
        guard case .text(let text) = try open(place) else { return nil }
        texts[place] = text
        return text
    }

    private mutating func instance(_ keys: [Int], _ values: [Int]) throws(TokenError) -> Instance? {
        var members: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            if let name = try plainText(key) { members[name] = value }
        }
        guard let place = members["$class"], let className = try className(place) else { return nil }
        members["$class"] = nil
        return Instance(className: className, members: members)
    }

    private mutating func className(_ place: Int) throws(TokenError) -> String? {
        if let known = classNames[place] { return known }
        guard case .dictionary(let keys, let values) = try open(place) else { return nil }
        for (key, value) in zip(keys, values) where try plainText(key) == "$classname" {
            // Swift's archiver writes the module before the name.
            let name = try plainText(value)?.split(separator: ".").last.map(String.init)
            classNames[place] = name
            return name
        }
        return nil
    }

    private static let malformed = TokenError(.cacheBadFormat, "not an ADAL archive: it is no keyed archive")
    /// 2001-01-01, from where Apple counts.
    private static let referenceDate: Int64 = 978_307_200
    private static let farAway: UInt64 = 1 << 40
}
