internal import Foundation
internal import TokenModel

/// The parameters of the one `Bearer` challenge in a `WWW-Authenticate` header field (RFC 9110 section 11.6.1, RFC 6750 section 3).
struct BearerChallenge {
    /// By name, as received; quoted values only, as Entra and its kin send them.
    let parameters: [String: String]

    /// Nil unless there is exactly one `Bearer` challenge and it has a parameter.
    init?(header: String) {
        let items = Self.items(of: header)
        guard !items.contains(where: { $0.trimmedNonEmpty == nil }) else { return nil }
        let starts = items.indices.compactMap { index in Self.afterScheme(items[index]).map { (index, $0) } }
        guard starts.count == 1, let (index, first) = starts.first else { return nil }
        // What follows is the same challenge's as long as it reads as a parameter.
        let texts = [first] + items[(index + 1)...].map { $0[...] }
        let pairs = texts.lazy.map(Self.parameter).prefix { $0 != nil }.compactMap { $0 }
        parameters = Dictionary(Array(pairs), uniquingKeysWith: { _, last in last })
        guard !parameters.isEmpty else { return nil }
    }

    /// The parts between commas; a comma in quotes parts nothing.
    private static func items(of header: String) -> [String] {
        var (items, isQuoted) = ([""], false)
        for character in header {
            if character == "\"" { isQuoted.toggle() }
            if character == "," && !isQuoted {
                items.append("")
            } else {
                items[items.count - 1].append(character)
            }
        }
        return items
    }

    /// What follows `Bearer` in an item that starts a challenge of that scheme with a parameter.
    private static func afterScheme(_ item: String) -> Substring? {
        guard let scheme = item.prefixMatch(of: /\s*bearer\s+/.ignoresCase()) else { return nil }
        let rest = item[scheme.range.upperBound...]
        return parameter(rest) == nil ? nil : rest
    }

    private static func parameter(_ text: Substring) -> (String, String)? {
        guard let match = text.prefixMatch(of: /\s*([^,\s="]+)\s*=\s*"([^"]+)"/) else { return nil }
        return (String(match.1), String(match.2))
    }
}
