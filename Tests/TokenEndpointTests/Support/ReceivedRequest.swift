internal import NIOHTTP1

@testable internal import TokenEndpoint

/// A request as a scripted server got it.
struct ReceivedRequest: Sendable {
    var method: String
    var uri: String
    var headers: HTTPHeaders
    var body: String

    var path: String { String(uri.prefix { $0 != "?" }) }
    var query: FormParameters? { FormParameters(decoding: uri.drop { $0 != "?" }.dropFirst()) }
    var form: FormParameters? { FormParameters(decoding: body[...]) }
}
