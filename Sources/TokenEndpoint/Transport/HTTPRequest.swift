internal import Curl
internal import Synchronization
internal import TokenModel

/// A request to an authority: a form to post, or nothing to get.
struct HTTPRequest: Sendable {
    let url: String
    let form: FormParameters?
    let correlationID: CorrelationID?
    let delivery: DeliveryTracker?

    init(url: String, form: FormParameters? = nil, correlationID: CorrelationID?, delivery: DeliveryTracker? = nil) {
        self.url = url
        self.form = form
        self.correlationID = correlationID
        self.delivery = delivery
    }

    /// The URL without its query: what an error message may say.
    var endpoint: String { String(url.prefix { $0 != "?" }) }

    /// The header fields that are the agent's own.
    var fields: [(name: String, value: String)] {
        var fields = [(name: "Accept", value: "application/json")] + ClientDescription.fields
        if let correlationID {
            fields.append(("client-request-id", correlationID.description))
            fields.append(("return-client-request-id", "true"))
        }
        if form != nil { fields.append(("Content-Type", "application/x-www-form-urlencoded")) }
        return fields
    }
}

/// Whether a request may have reached the authority, for who has to know what became of it when no answer comes.
package final class DeliveryTracker: Sendable {
    private let attempts = Atomic(0)

    package init() {}

    /// False when all that was tried ended before there was a connection to send anything over.
    package var mayHaveArrived: Bool { attempts.load(ordering: .acquiring) > 0 }

    func begun() { attempts.add(1, ordering: .acquiringAndReleasing) }

    /// The attempt that has begun came to nothing: there was no connection.
    func neverConnected() { attempts.subtract(1, ordering: .acquiringAndReleasing) }
}
