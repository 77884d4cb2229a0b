extension URLParts {
    /// The parts of an `https` URL in which no character has a meaning of its own, as nearly every authority is.
    ///
    /// Every request names one, and a full parser would be the most expensive part of a cached token. Nil says nothing against the URL:
    /// a port, capitals in the host, escapes and all else are the full parser's.
    package init?(plain url: String) {
        let scheme = "https"
        let opening = "\(scheme)://"
        guard url.utf8.starts(with: opening.utf8) else { return nil }
        let pieces = url.utf8.dropFirst(opening.utf8.count)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let segments = pieces.dropFirst().filter { !$0.isEmpty }
        guard let first = pieces.first, !first.isEmpty, first.allSatisfy(Self.isPlainInHost),
            segments.allSatisfy({ $0.allSatisfy(Self.isPlainInPath) })
        else { return nil }
        let host = String(Substring(first))
        self.init(
            scheme: scheme, host: host, environment: host, segments: segments.map { String(Substring($0)) })
    }

    private static func isPlainInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// The unreserved characters of RFC 3986 section 2.3.
    private static func isPlainInPath(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isPlainInHost(byte)
        }
    }
}
