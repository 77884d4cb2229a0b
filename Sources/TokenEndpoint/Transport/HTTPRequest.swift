internal import Curl
internal import Synchronization
package import TokenModel

/// An HTTP request to an authority: a POST of a form, which has or requests a grant, or a GET.
struct HTTPRequest: Sendable {
    let url: String
    let form: FormParameters?
    let correlationID: CorrelationID?
    let delivery: DeliveryTracker

    init(
        url: String, form: FormParameters? = nil, correlationID: CorrelationID?,
        delivery: DeliveryTracker = DeliveryTracker()
    ) {
        self.url = url
        self.form = form
        self.correlationID = correlationID
        self.delivery = delivery
    }

    /// The URL without its query, for error messages.
    var endpoint: String { String(url.prefix { $0 != "?" }) }

    /// The header fields. Without `Accept-Encoding`, the response may be compressed (RFC 9110 section 12.5.3), and could not be read.
    var fields: [(name: String, value: String)] {
        var fields =
            [(name: "Accept", value: "application/json"), (name: "Accept-Encoding", value: "identity")]
            + ClientDescription.fields
        if let correlationID {
            fields.append(("client-request-id", correlationID.description))
            fields.append(("return-client-request-id", "true"))
        }
        if form != nil { fields.append(("Content-Type", "application/x-www-form-urlencoded")) }
        return fields
    }
}

/// Tracks whether a request may have reached the authority, which matters if there is no response: a refresh token may have
/// been replaced, and the authority would take a second redemption of it for theft (RFC 9700 section 4.14.2).
package final class DeliveryTracker: Sendable {
    private let attempts = Atomic(0)
    private let refused = Mutex<IssuedTokens?>(nil)
    private let incomplete = Mutex<HTTPResponse?>(nil)

    package init() {}

    /// Whether the request may have reached the server: false if every attempt failed before there was a connection.
    package var mayHaveArrived: Bool { attempts.load(ordering: .acquiring) > 0 }

    func recordSending() { attempts.add(1, ordering: .acquiringAndReleasing) }

    /// Undoes `recordSending` for an attempt that had no connection.
    func recordNeverSent() { attempts.subtract(1, ordering: .acquiringAndReleasing) }

    /// What has arrived of a response whose end has not; nil if there is no such response.
    var incompleteResponse: HTTPResponse? { incomplete.withLock(\.self) }

    func recordIncomplete(_ response: HTTPResponse) { incomplete.withLock { $0 = response } }

    /// The tokens of a response that was refused as not valid, or has no end; nil if there is no such response. They are not used, but for
    /// the refresh token, which replaces the one that was sent (RFC 6749 section 6).
    package var refusedTokens: IssuedTokens? { refused.withLock(\.self) }

    /// Records the tokens of a response that is not valid.
    package func recordRefused(_ tokens: IssuedTokens) { refused.withLock { $0 = tokens } }
}

/// The client description that Microsoft's libraries send in header fields and in the query of an authorization request.
/// The values describe this package, not the user or the machine.
enum ClientDescription {
    static let fields: [(name: String, value: String)] = [
        ("x-client-SKU", "sso-agent"), ("x-client-Ver", ProductVersion.text), ("x-client-OS", system),
    ]

    #if canImport(Darwin)
        private static let system = "darwin"
    #else
        private static let system = "linux"
    #endif
}
