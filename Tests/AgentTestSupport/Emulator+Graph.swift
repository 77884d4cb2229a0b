package import EntraEmulator
internal import Foundation
package import TestSupport
package import Testing

/// Microsoft Graph at the emulator, as apps call it.
extension Emulator {
    /// The response to `GET /v1.0/me` with an access token.
    package func graph(_ accessToken: String) async throws -> WebClient.Reply {
        try await WebClient.send("\(url)/v1.0/me", headers: ["Authorization": "Bearer \(accessToken)"])
    }

    /// The claims challenge with which an access token is refused, in base64 as in the header.
    package func challenge(
        _ accessToken: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let reply = try await graph(accessToken)
        #expect(reply.status == 401, sourceLocation: sourceLocation)
        let header = try #require(reply.headers["www-authenticate"], sourceLocation: sourceLocation)
        let start = try #require(header.firstRange(of: #"claims=""#)?.upperBound, sourceLocation: sourceLocation)
        return String(header[start...].prefix { $0 != "\"" })
    }

    /// The JSON of the claims challenge with which an access token is refused.
    package func requestedClaims(
        _ accessToken: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let challenge = try await challenge(accessToken, sourceLocation: sourceLocation)
        let json = try #require(Data(base64Encoded: challenge), sourceLocation: sourceLocation)
        return String(decoding: json, as: UTF8.self)
    }
}
