internal import Crypto
package import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Proof that whoever redeems an authorization code is who asked for it (RFC 7636, method S256).
package struct PKCE: Sendable {
    /// Goes with the code to the token endpoint, and nowhere else.
    package let verifier: Secret
    /// Goes through the browser.
    package let challenge: String

    init(verifier: Secret) {
        self.verifier = verifier
        self.challenge = verifier.withBytes { Base64URL.encode(Data(SHA256.hash(data: $0))) }
    }

    /// A fresh pair from 32 random bytes, as section 4.1 recommends.
    package static func make() -> PKCE {
        PKCE(verifier: Secret(randomText()))
    }

    /// 32 bytes from the system's generator, base64url-encoded: also good as a `state` or a `nonce`.
    package static func randomText() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode(Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }))
    }
}
