internal import Foundation

/// ID tokens and token results for the ADAL tests.
enum ADALIDToken {
    /// A compact JWS with these claims, whose header has a claim-like member of its own and whose signature is nonsense.
    static func make(_ claims: [String: String]) throws -> String {
        let header = Data(#"{"alg":"none","upn":"header@contoso.com"}"#.utf8)
        let payload = try JSONSerialization.data(withJSONObject: claims)
        return [header, payload, Data("signature".utf8)].map(encoded).joined(separator: ".")
    }

    /// Base64 with the URL-safe alphabet and no padding.
    static func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
