internal import Foundation

/// A claims request (OpenID Connect Core section 5.5), as far as the emulator reads it: two claims of the access token.
struct ClaimsRequest: Sendable {
    /// The capabilities of the app, such as `cp1` (`xms_cc`).
    var capabilities: [String] = []
    /// The authentication contexts that the user has to satisfy, such as `c1` (`acrs`).
    var contexts: [String] = []

    init() {}

    /// Reads the parameter `claims` of a request; without it, nothing is requested. Providers other than Entra ignore it.
    ///
    /// - Throws: `malformedClaims` if it is not a JSON object.
    init(_ request: EmulatorRequest) throws(OAuthFailure) {
        guard [.entra, .ciam].contains(request.authority.kind), let text = request.parameters["claims"] else { return }
        guard let members = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            throw .malformedClaims
        }
        let claims = members["access_token"] as? [String: Any] ?? [:]
        capabilities = Self.texts(claims["xms_cc"])
        contexts = Self.texts(claims["acrs"])
    }

    /// Whether the app handles claims challenges, so that its access tokens live long and can be revoked before they expire.
    var isCapable: Bool { Self.isCapable(capabilities) }

    static func isCapable(_ capabilities: [String]) -> Bool { capabilities.contains { $0.lowercased() == "cp1" } }

    /// - Throws: `multiFactorRequired` if an authentication context is not among those that the sign-in has satisfied.
    func checkContexts(satisfied: [String]) throws(OAuthFailure) {
        guard let missing = contexts.first(where: { !satisfied.contains($0) }) else { return }
        throw .multiFactorRequired(claims: Self.challenge("acrs", missing))
    }

    /// The JSON of a claims request with which the services ask for a token whose claim has this value.
    static func challenge(_ claim: String, _ value: String) -> String {
        let request: JSON = ["access_token": .object([claim: ["essential": true, "value": .string(value)]])]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(request)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The text of `value` or `values` in the request for one claim.
    private static func texts(_ claim: Any?) -> [String] {
        guard let claim = claim as? [String: Any] else { return [] }
        let values = claim["values"] as? [Any] ?? claim["value"].map { [$0] } ?? []
        return values.compactMap { $0 as? String }
    }
}
