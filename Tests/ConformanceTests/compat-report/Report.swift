/// The result of a step of `compat-app`, which writes it as one line of JSON. It holds tokens, which are those of the
/// emulator.
package struct Report: Codable, Equatable, Sendable {
    package var username: String?
    package var identifier: String?
    package var token: String?
    package var scopes: [String]?
    package var authority: String?
    package var tenant: String?
    package var accounts: [Report]?
    package var tenants: [String]?
    package var domain: String?
    package var code: Int?

    package init() {}
}
