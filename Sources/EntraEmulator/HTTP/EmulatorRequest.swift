internal import Foundation
internal import NIOHTTP1

/// One request to an emulated endpoint, read whole.
struct EmulatorRequest: Sendable {
    var address: EndpointAddress
    var method: HTTPMethod
    var path: String
    /// Query and form together; both generations of the libraries use both.
    var parameters: Parameters
    var headers: HTTPHeaders
    /// Scheme and host as the caller wrote them, so that an alias leads back to itself.
    var baseURL: String
    /// Host and port as the caller wrote them, in lower case.
    var environment: String

    init?(_ request: ReceivedRequest, scheme: String) {
        let query = Parameters(encoded: request.query)
        guard let address = EndpointAddress(path: request.path, policy: query["p"]) else { return nil }
        self.address = address
        method = request.method
        path = request.path
        parameters = query.merging(Parameters(encoded: String(decoding: request.body, as: UTF8.self)))
        headers = request.headers
        let environment = request.host?.lowercased() ?? "127.0.0.1"
        self.environment = environment
        baseURL = "\(scheme)://\(environment)"
        if address.authority.kind == .entra, environment.hasSuffix(".ciamlogin.com") {
            self.address.authority.kind = .ciam
        }
    }

    var authority: RequestedAuthority { address.authority }

    var clientID: String? { parameters["client_id"] }

    var grant: Grant? {
        address.endpoint == .token ? parameters["grant_type"].flatMap(Grant.init(parameter:)) : nil
    }

    /// What the request counts as: its grant at the token endpoint, elsewhere its endpoint.
    var counter: Counter {
        grant.map(Counter.init) ?? Counter(address.endpoint)
    }

    /// The libraries send it in a header, or as a parameter where they cannot set one.
    var correlationID: String? {
        headers.first(name: "client-request-id") ?? parameters["client-request-id"]
    }
}
