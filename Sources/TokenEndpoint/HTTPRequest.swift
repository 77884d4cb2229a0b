internal import AsyncHTTPClient
internal import NIOHTTP1
internal import TokenModel

/// A request to an authority: a form to post, or nothing to get.
struct HTTPRequest: Sendable {
    let url: String
    let form: FormParameters?
    let correlationID: CorrelationID?
    let mark: SendingMark?

    init(url: String, form: FormParameters? = nil, correlationID: CorrelationID?, mark: SendingMark? = nil) {
        self.url = url
        self.form = form
        self.correlationID = correlationID
        self.mark = mark
    }

    /// The URL without its query: what an error message may say.
    var endpoint: String { String(url.prefix { $0 != "?" }) }

    var asClientRequest: HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        for field in ClientDescription.fields { request.headers.add(name: field.name, value: field.value) }
        if let correlationID {
            request.headers.add(name: "client-request-id", value: correlationID.description)
            request.headers.add(name: "return-client-request-id", value: "true")
        }
        if let form {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(Array(form.encoded.utf8))
        }
        return request
    }
}
