/// The header fields of a response under the names that apps look for.
///
/// Names of header fields have no case (RFC 9110 section 5.1), and some servers send them in lower case. Foundation on Apple's platforms
/// writes the common ones in one spelling, by which apps look them up in the dictionaries of MSAL and ADAL.
package enum HeaderFields {
    private static let names = [
        "Age", "Cache-Control", "Connection", "Content-Encoding", "Content-Language", "Content-Length", "Content-Type",
        "Date", "ETag", "Expires", "Last-Modified", "Location", "Pragma", "Retry-After", "Server", "Transfer-Encoding",
        "Vary", "Via", "Warning", "WWW-Authenticate",
    ]
    private static let spellings = Dictionary(uniqueKeysWithValues: names.map { ($0.lowercased(), $0) })

    /// Returns the fields with the common names in their usual spelling; the others as received. Values of one name are joined as a list.
    package static func canonical(_ fields: [String: String]) -> [String: String] {
        var canonical: [String: String] = [:]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            let name = spellings[name.lowercased()] ?? name
            canonical[name] = canonical[name].map { "\($0), \(value)" } ?? value
        }
        return canonical
    }
}
