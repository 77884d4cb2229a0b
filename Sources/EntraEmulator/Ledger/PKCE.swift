internal import Crypto
internal import Foundation

/// The challenge of an authorization request (RFC 7636).
enum PKCE: Sendable, Equatable {
    case absent
    case plain(String)
    case sha256(String)

    init(_ parameters: Parameters) {
        switch (parameters["code_challenge"], parameters["code_challenge_method"]) {
        case (nil, _): self = .absent
        case (let challenge?, "S256"): self = .sha256(challenge)
        case (let challenge?, _): self = .plain(challenge)
        }
    }

    func accepts(verifier: String?) -> Bool {
        switch self {
        case .absent: true
        case .plain(let challenge): verifier == challenge
        case .sha256(let challenge): verifier.map { base64URL(SHA256.hash(data: Data($0.utf8))) } == challenge
        }
    }
}
