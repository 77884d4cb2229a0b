/// What a step of `compat-app` came to, which it writes as one line of JSON. Tokens are shown: they are the emulator's.
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
