internal import TokenModel

/// The object graph of an `NSKeyedArchiver` archive.
///
/// Foundation's own unarchiver traps on malformed archives. This one reads only the objects that are requested, without
/// recursion, and throws if the work exceeds a multiple of the file's size.
struct KeyedArchive {
    /// An object of a class, with the places of its members.
    struct Instance {
        /// The class's own name, without a module.
        var className: String
        var members: [String: Int]
    }

    /// The place of the root object.
    private(set) var root = 0
    private let list: BinaryPropertyList
    private var objects: [Int] = []
    /// Texts and class names that have been read, by the index of their object.
    private var texts: [Int: String] = [:]
    private var classNames: [Int: String] = [:]
    private var effortLeft: Int
    private var textLeft: Int

    /// - Throws: `cacheBadFormat` (-51201) if `bytes` are not a keyed archive.
    init(_ bytes: [UInt8]) throws(TokenError) {
        list = try BinaryPropertyList(bytes)
        effortLeft = 4096 + 16 * bytes.count
        textLeft = min(1 << 20 + 32 * bytes.count, Self.maximumText)
        let members = try names(list.top)
        guard let top = members["$top"], let objects = members["$objects"],
            case .list(let places) = try object(objects), let root = try names(top)["root"]
        else { throw Self.malformed }
        self.objects = places
        self.root = root
    }

    /// The values of a plain dictionary by their names.
    private mutating func names(_ index: Int) throws(TokenError) -> [String: Int] {
        guard case .dictionary(let keys, let values) = try object(index) else { throw Self.malformed }
        var members: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            if let name = try text(object: key), name.utf8.count <= Self.longestName { members[name] = value }
        }
        return members
    }

    /// The text at a place, plain or as an `NSString` object; nil if there is none.
    mutating func text(_ place: Int?) throws(TokenError) -> String? {
        guard let place else { return nil }
        if let plain = try plainText(place) { return plain }
        guard let inner = try instance(place)?.members["NS.string"] else { return nil }
        return try plainText(inner)
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

    /// The time at a place, in whole seconds since 1970; nil if there is none, or if it is out of range.
    mutating func time(_ place: Int?) throws(TokenError) -> Int64? {
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

    /// The instance at a place; nil if something else or nothing is there.
    mutating func instance(_ place: Int?) throws(TokenError) -> Instance? {
        guard let place, case .dictionary(let keys, let values) = try open(place) else { return nil }
        return try instance(keys, values)
    }

    /// The places in an array or set.
    mutating func values(_ instance: Instance) throws(TokenError) -> [Int] {
        guard let place = instance.members["NS.objects"], case .list(let values) = try open(place) else { return [] }
        return values
    }

    /// The places in a dictionary; nil if the instance is not a dictionary.
    mutating func pairs(_ instance: Instance) throws(TokenError) -> [(key: Int, value: Int)]? {
        guard instance.className.hasSuffix("Dictionary"), let place = instance.members["NS.keys"],
            case .list(let keys) = try open(place)
        else { return nil }
        return zip(keys, try values(instance)).map { (key: $0, value: $1) }
    }

    /// The object at a place, through a reference where there is one; `.null` for the archive's nil.
    private mutating func open(_ place: Int) throws(TokenError) -> BinaryPropertyList.Object {
        guard let target = try target(of: place) else { return .null }
        return try object(target)
    }

    /// The index of the object that a place refers to; nil for the archive's nil.
    private mutating func target(of place: Int) throws(TokenError) -> Int? {
        guard case .uid(let uid) = try object(place) else { return place }
        guard uid != 0 else { return nil }
        guard uid < objects.count else { throw Self.malformed }
        return objects[uid]
    }

    /// Reads an object by its index, and subtracts its size from the remaining effort.
    private mutating func object(_ index: Int) throws(TokenError) -> BinaryPropertyList.Object {
        if let known = texts[index] { return .text(known) }
        let object = try list.object(at: index)
        switch object {
        case .list(let places): effortLeft -= places.count
        case .dictionary(let keys, _): effortLeft -= keys.count
        case .text(let text):
            texts[index] = text
            textLeft -= text.utf8.count
        default: break
        }
        effortLeft -= 1
        guard effortLeft >= 0, textLeft >= 0 else { throw Self.tooMuchWork }
        return object
    }

    /// The text at a place, which may not be an `NSString` object: in the place of a name, that could refer to itself.
    private mutating func plainText(_ place: Int) throws(TokenError) -> String? {
        try target(of: place).flatMap { index throws(TokenError) in try text(object: index) }
    }

    /// Reads a text by its index. Every use subtracts its length, since the records hold a copy for each.
    private mutating func text(object index: Int) throws(TokenError) -> String? {
        guard case .text(let text) = try object(index) else { return nil }
        textLeft -= text.utf8.count
        guard textLeft >= 0 else { throw Self.tooMuchWork }
        return text
    }

    private mutating func instance(_ keys: [Int], _ values: [Int]) throws(TokenError) -> Instance? {
        var members: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            if let name = try plainText(key), name.utf8.count <= Self.longestName { members[name] = value }
        }
        guard let place = members["$class"], let className = try className(place) else { return nil }
        members["$class"] = nil
        return Instance(className: className, members: members)
    }

    private mutating func className(_ place: Int) throws(TokenError) -> String? {
        guard let index = try target(of: place) else { return nil }
        if let known = classNames[index] { return known }
        guard case .dictionary(let keys, let values) = try object(index) else { return nil }
        for (key, value) in zip(keys, values) where try plainText(key) == "$classname" {
            // Swift's archiver writes the module before the name.
            let name = try plainText(value)?.split(separator: ".").last.map(String.init)
            classNames[index] = name
            return name
        }
        return nil
    }

    private static let tooMuchWork = TokenError(
        .cacheBadFormat, "not an ADAL archive: its objects refer to one another without end")
    private static let malformed = TokenError(.cacheBadFormat, "not an ADAL archive: it is no keyed archive")
    /// 2001-01-01, the reference date of Apple's times.
    static let referenceDate: Int64 = 978_307_200
    private static let farAway: UInt64 = 1 << 40
    /// The maximum length of a name, in bytes; the names of all known members are shorter.
    private static let longestName = 256
    private static let maximumText = 256 << 20
}
