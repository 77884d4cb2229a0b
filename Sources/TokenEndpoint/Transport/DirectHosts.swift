internal import TokenModel

/// The hosts that need no proxy, as `NO_PROXY` lists them.
///
/// A name stands for itself and all names under it, with or without a leading `.` or `*.`; an address for itself; `:port`
/// narrows an entry to one port; `*` stands for everything.
struct DirectHosts: Sendable {
    private let entries: [(host: String, port: Int?)]

    init(_ list: String) {
        entries = list.lowercased().split { $0 == "," || $0.isWhitespace }.map(Self.entry)
    }

    func contains(_ url: URLParts) -> Bool {
        let port = Self.entry(url.environment[...]).port ?? (url.scheme == "https" ? 443 : 80)
        return entries.contains { entry in
            guard entry.port == nil || entry.port == port else { return false }
            return entry.host == "*" || entry.host == url.host || url.host.hasSuffix("." + entry.host)
        }
    }

    private static func entry(_ text: Substring) -> (host: String, port: Int?) {
        var host = text
        var port: Int?
        // More than one colon without brackets is an IPv6 address.
        if let colon = text.lastIndex(of: ":"), text.hasPrefix("[") || text.firstIndex(of: ":") == colon,
            let number = Int(text[text.index(after: colon)...])
        {
            host = text[..<colon]
            port = number
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if host.hasPrefix("*.") { host = host.dropFirst() }
        if host.hasPrefix(".") { host = host.dropFirst() }
        return (String(host), port)
    }
}
