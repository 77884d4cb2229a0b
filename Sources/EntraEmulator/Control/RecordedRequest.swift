internal import NIOHTTP1

/// A request as it arrived, for tests that look at what was sent.
///
/// Holds secrets as they came. In process only: `/control` does not show it.
package struct RecordedRequest: Sendable {
    package let counter: Counter
    package let method: String
    /// Host and port, as they were called.
    package let environment: String
    package let path: String
    /// Query and form fields.
    package let parameters: [String: String]
    /// Names in lower case.
    package let headers: [String: String]

    init(_ request: EmulatorRequest) {
        counter = request.counter
        method = request.method.rawValue
        environment = request.environment
        path = request.path
        parameters = request.parameters.fields
        headers = Dictionary(
            request.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $0 + ", " + $1 })
    }
}
