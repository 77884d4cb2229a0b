internal import Foundation
internal import TestSupport

@testable internal import EntraEmulator

/// An app that sends OAuth requests without a library, so that tests can send malformed ones.
struct App: Sendable {
    let emulator: Emulator
    var clientID = "11111111-2222-3333-4444-555555555555"
    var redirectURI = "http://localhost/callback"
    /// The path before the endpoints.
    var authority = "common"
    var isV1 = false

    static let scope = "openid profile offline_access User.Read"

    func url(_ endpoint: String) -> String {
        "\(emulator.url)/\(authority)/\(isV1 ? "oauth2" : "oauth2/v2.0")/\(endpoint)"
    }

    func authorize(_ extra: [String: String] = [:]) async throws -> Reply {
        var fields = ["client_id": clientID, "redirect_uri": redirectURI, "response_type": "code", "state": "s 1"]
        fields[isV1 ? "resource" : "scope"] = isV1 ? "https://graph.example" : Self.scope
        return try await HTTP.get(
            "\(url("authorize"))?\(Parameters(fields.merging(extra) { $1 }).encoded)")
    }

    /// Sends an authorization request, and returns the code.
    func code(_ extra: [String: String] = [:]) async throws -> String {
        try await authorize(extra).redirect["code"] ?? ""
    }

    func token(_ form: [String: String]) async throws -> Reply {
        try await HTTP.post(url("token"), form: ["client_id": clientID, "client_info": "1"].merging(form) { $1 })
    }

    func redeem(code: String, _ extra: [String: String] = [:]) async throws -> Reply {
        let form = ["grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI]
        return try await token(form.merging(extra) { $1 })
    }

    func redeem(refreshToken: String?, _ extra: [String: String] = [:]) async throws -> Reply {
        let form = ["grant_type": "refresh_token", "refresh_token": refreshToken ?? ""]
        return try await token(form.merging(extra) { $1 })
    }

    /// Signs a user in, and returns the token reply.
    func signIn(_ extra: [String: String] = [:]) async throws -> Reply {
        try await redeem(code: code(extra))
    }
}

/// Runs a test with an emulator, and stops it afterwards, also after an error.
func withEmulator<Result: Sendable>(
    _ options: EmulatorOptions = EmulatorOptions(), _ body: (Emulator) async throws -> Result
) async throws -> Result {
    let emulator = try await Emulator.start(options)
    return try await withCleanup {
        try await body(emulator)
    } cleanUp: {
        await emulator.stop()
    }
}
