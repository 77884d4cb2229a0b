internal import Foundation
internal import TokenModel

/// The encoding of query parameters and forms: `application/x-www-form-urlencoded`.
enum FormEncoding {
    /// The text behind an encoded one; nil when it holds what has to be encoded in a URL (RFC 3986 section 3.4).
    static func decode(_ text: some StringProtocol) -> String? {
        guard text.unicodeScalars.allSatisfy({ $0 == "%" || CharacterSet.urlQueryAllowed.contains($0) }) else {
            return nil
        }
        return text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }

    /// The parameters of `a=b&c=d`, with or without a leading `?` or `&`; the last of a name counts.
    static func parameters(of query: String) -> [String: String]? {
        let query = query.trimmedNonEmpty ?? ""
        var parameters: [String: String] = [:]
        for pair in query.drop(while: { $0 == "?" || $0 == "&" }).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(parts[0]), let value = decode(parts.count > 1 ? parts[1] : "") else { return nil }
            if !name.isEmpty { parameters[name] = value }
        }
        return parameters
    }
}
