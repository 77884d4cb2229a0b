#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A JSON object whose members are asked for by name; one that is `null` is absent.
struct JSONObject: Sendable {
    private let members: [String: JSONValue]

    init(_ members: [String: JSONValue]) {
        self.members = members
    }

    /// Nil unless `bytes` are one JSON object.
    init?(_ bytes: Data) {
        guard let members = try? JSONDecoder().decode([String: JSONValue].self, from: bytes) else { return nil }
        self.init(members)
    }

    /// The same of bytes that are only lent, without a copy of them.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return nil }
        let memory = UnsafeMutableRawPointer(mutating: start)
        self.init(Data(bytesNoCopy: memory, count: bytes.count, deallocator: .none))
    }

    subscript(name: String) -> JSONValue? {
        if let value = members[name], case .null = value { nil } else { members[name] }
    }

    func text(_ name: String) -> String? { self[name]?.text }

    /// A number of seconds: not negative, and small enough to add to any date.
    func seconds(_ name: String) -> Int64? {
        self[name]?.integer.map { min(max($0, 0), Self.longest) }
    }

    private static let longest: Int64 = 100 * 366 * 86_400
}
