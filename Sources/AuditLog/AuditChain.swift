internal import Crypto
internal import TokenModel

/// The chain of the log's lines: each has a number and the hash of the line before it, so that a line that is missing, added or
/// changed shows.
struct AuditChain: Sendable, Equatable {
    /// The number of the last line; 0 before the first.
    private(set) var number: Int64 = 0
    /// The SHA-256 of the last line, in hexadecimal; zeros before the first.
    private(set) var hash = String(repeating: "0", count: 64)

    /// Appends an event, and returns its line without the line end.
    mutating func append(_ event: AuditEvent) -> [UInt8] {
        let line = Array(JSONTree.object(members(of: event)).json.utf8)
        follow(line, number: number + 1)
        return line
    }

    /// Continues behind an existing line.
    mutating func follow(_ line: some Sequence<UInt8>, number: Int64) {
        self.number = number
        hash = Self.hash(of: line)
    }

    /// SHA-256 in hexadecimal.
    static func hash(of bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = SHA256.hash(data: Array(bytes)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    private func members(of event: AuditEvent) -> [JSONTree.Member] {
        let peer = event.peer
        let fields: [(String, JSONTree?)] = [
            ("seq", .number("\(number + 1)")), ("time", .text(CivilTime(secondsSince1970: event.time).timestamp)),
            ("event", .text(event.kind.rawValue)), ("outcome", .text(event.outcome)),
            ("uid", peer.map { .number("\($0.userID)") }), ("pid", peer?.processID.map { .number("\($0)") }),
            ("class", peer.map { .text($0.peerClass) }), ("executable", Self.text(peer?.executable)),
            ("unit", Self.text(peer?.unit)), ("app", Self.text(peer?.app)), ("socket", Self.text(event.socket)),
            ("request", Self.text(event.request)),
            ("client_id", Self.text(event.clientID)), ("sharing_group", Self.text(event.sharingGroup)),
            // The first 128 bits distinguish accounts, and do not show who they are.
            ("account", event.account.map { .text(String(Self.hash(of: $0.lowercased().utf8).prefix(32))) }),
            ("username", Self.text(event.username)), ("scopes", Self.scopes(event.scopes)),
            ("count", event.count.flatMap { $0 == 1 ? nil : .number("\($0)") }), ("prev", .text(hash)),
        ]
        return fields.compactMap { name, value in value.map { JSONTree.Member(name: name, value: $0) } }
    }

    /// Text that an app may have chosen: short, and without characters that a terminal obeys.
    private static func text(_ text: String?) -> JSONTree? {
        text.map { .text(UntrustedText.clean($0, limit: 256)) }
    }

    /// The scopes: not all of them if there are very many.
    private static func scopes(_ scopes: [String]) -> JSONTree? {
        guard !scopes.isEmpty else { return nil }
        let limit = 16
        let shown = scopes.prefix(limit).compactMap(text)
        return .list(shown + (scopes.count > limit ? [.text("… \(scopes.count - limit) more")] : []))
    }
}

extension CivilTime {
    /// The time of UTC as in RFC 3339, such as `2026-11-21T03:38:21Z`.
    fileprivate var timestamp: String {
        func digits(_ number: Int64, _ count: Int = 2) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(count - text.count, 0)) + text
        }
        return "\(digits(year, 4))-\(digits(month))-\(digits(day))T\(digits(hour)):\(digits(minute)):\(digits(second))Z"
    }
}
