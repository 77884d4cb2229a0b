internal import Curl
internal import TokenModel

/// The HTTP response of an authority. The body may have tokens and is never quoted in messages.
struct HTTPResponse: Sendable {
    static let bodyLimit = 1 << 20
    private static let headerLimit = 64

    /// The URL of the request without its query, for error messages.
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

    /// The value of the first header field with a name, regardless of case.
    func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The provider's time, in seconds since 1970; nil if the response has no valid `Date`.
    var date: Int64? { field("Date").flatMap(HTTPDate.secondsSince1970) }

    /// Whether the status is one of OAuth responses, successful or not.
    var isOAuth: Bool { [200, 400, 401].contains(status) }

    /// The body as a JSON object; nil if it is not one. In a response with the status of an error, U+FFFD stands for bytes that are not
    /// UTF-8: some servers describe an error in ISO 8859-1.
    var json: JSONTree? {
        if let object = Self.object(body) { return object }
        return status < 400 ? nil : Self.object(Secret(body.reveal()))
    }

    private static func object(_ text: Secret) -> JSONTree? {
        guard let value = try? JSONReader.read(text, maximumValues: JSONReader.valuesOfMessage), value.isObject else {
            return nil
        }
        return value
    }

    /// The error for a status that is not one of OAuth, with the header fields, such as `Retry-After`.
    var unhandled: TokenError {
        TokenError(.unhandledHTTPResponse, "\(endpoint) responded with HTTP status \(status)", details: details)
    }

    /// The error for a response that is not valid.
    func invalid(_ what: String, code: TokenError.Code = .serverInvalidResponse) -> TokenError {
        var details = TokenError.Details()
        details.httpStatus = Int32(clamping: status)
        // Without it, the reason would follow from the code, and `internalError` means a defect of the agent.
        details.reason = .provider
        return TokenError(
            code, "the response of \(endpoint) (HTTP status \(status)) \(what)", details: details)
    }

    /// The response without secrets in its header fields.
    func hiding(_ secrets: [Secret]) -> HTTPResponse {
        HTTPResponse(
            endpoint: endpoint, status: status, fields: fields.map { ($0.name, $0.value.hiding(secrets)) }, body: body)
    }

    private var details: TokenError.Details {
        var details = TokenError.Details()
        details.httpStatus = Int32(clamping: status)
        // Cookies are secrets.
        let shown = fields.lazy.filter { $0.name.lowercased() != "set-cookie" }.prefix(Self.headerLimit)
        for (name, value) in shown {
            let name = UntrustedText.clean(name)
            let value = UntrustedText.clean(value)
            details.httpHeaders[name] = details.httpHeaders[name].map { "\($0), \(value)" } ?? value
        }
        return details
    }
}

extension JSONTree {
    /// The string of a member; nil if it is missing, blank or not a string.
    func text(_ name: String) -> String? { self[name]?.string }

    /// The number of seconds of a member, at least 0 and small enough to add to any date; nil if it is not a number.
    func seconds(_ name: String) -> Int64? {
        self[name]?.integer.map { min(max($0, 0), Self.longestDuration) }
    }

    /// The seconds from `now` to the time under `name`, which is in seconds since 1970; 0 for a past time.
    func seconds(from now: Int64, to name: String) -> Int64? {
        self[name]?.integer.map { min(max($0, now), now + Self.longestDuration) - now }
    }

    private static let longestDuration: Int64 = 100 * 366 * 86_400
}

/// Dates of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7, without the two obsolete formats).
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Parses a date; nil if `text` is not one.
    package static func secondsSince1970(_ text: String) -> Int64? {
        let fields = text.split(separator: " ").map(String.init)
        guard fields.count == 6, fields[0].hasSuffix(","), fields[5] == "GMT",
            let day = number(fields[1]),
            let month = months.firstIndex(of: fields[2]),
            let year = number(fields[3])
        else { return nil }
        let clock = fields[4].split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard clock.count == 3, let hour = number(clock[0]), let minute = number(clock[1]),
            let second = number(clock[2])
        else { return nil }
        return CivilTime(
            year: year, month: Int64(month) + 1, day: day, hour: hour, minute: minute, second: second)?
            .secondsSince1970
    }

    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
    }
}
