internal import Curl
internal import TokenModel

/// An authority's answer, whole. Its body is read, but never quoted: it may hold tokens.
struct HTTPResponse: Sendable {
    static let bodyLimit = 1 << 20
    private static let headerLimit = 64

    /// Who answered, for messages.
    let endpoint: String
    let status: Int
    let fields: [(name: String, value: String)]
    let body: Secret

    init(endpoint: String, status: Int, fields: [(name: String, value: String)] = [], body: Secret) {
        self.endpoint = endpoint
        self.status = status
        self.fields = fields
        self.body = body
    }

    init(endpoint: String, _ response: CurlResponse) {
        self.init(endpoint: endpoint, status: response.status, fields: response.fields, body: response.body)
    }

    /// The value of the first header field of that name, whatever its case.
    func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Whether the body is to be read as OAuth, be it a success or an error.
    var isOAuth: Bool { [200, 400, 401].contains(status) }

    /// The body as a JSON object; nil when it is none.
    var json: JSONObject? { body.withBytes { JSONObject($0) } }

    /// The error for a status that means nothing to OAuth; keeps `Retry-After` and its like.
    var unhandled: TokenError {
        TokenError(.unhandledHTTPResponse, "\(endpoint) answered with HTTP status \(status)", details: details)
    }

    /// The error for an answer that cannot be understood.
    func invalid(_ what: String, code: TokenError.Code = .serverInvalidResponse) -> TokenError {
        var details = TokenError.Details()
        details.httpStatus = Int32(clamping: status)
        return TokenError(
            code, "the answer of \(endpoint) (HTTP status \(status)) \(what)", details: details)
    }

    private var details: TokenError.Details {
        var details = TokenError.Details()
        details.httpStatus = Int32(clamping: status)
        // A cookie is the authority's own secret.
        let shown = fields.lazy.filter { $0.name.lowercased() != "set-cookie" }.prefix(Self.headerLimit)
        for (name, value) in shown {
            let name = UntrustedText.clean(name)
            let value = UntrustedText.clean(value)
            details.httpHeaders[name] = details.httpHeaders[name].map { "\($0), \(value)" } ?? value
        }
        return details
    }
}
