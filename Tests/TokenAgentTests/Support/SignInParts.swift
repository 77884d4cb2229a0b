internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

extension ConnectionID {
    /// The connection of most tests.
    static let sample = ConnectionID(number: 1000, processID: 1000)
}

extension DeviceCodeGrant {
    /// A device code with a polling interval of five seconds.
    static func sample(expiresIn: Int64) -> DeviceCodeGrant {
        DeviceCodeGrant(
            deviceCode: Secret("code"), userCode: "ABCD", verificationURL: "https://example.com/device",
            message: "Enter ABCD", expiresIn: expiresIn, interval: 5)
    }
}

extension Parts {
    /// Opens a connection, and reserves a session for it.
    func reserve(_ connection: ConnectionID = .sample) throws(TokenError) -> String {
        signIns.connectionOpened(connection)
        return try signIns.reserve(for: connection)
    }

    /// Begins a device code sign-in with a polling interval of five seconds.
    func beginDeviceCode(
        account: AccountReference = AccountReference(), _ parameters: TokenParameters = .sample(),
        expiresIn: Int64 = 900, for connection: ConnectionID = .sample
    ) async throws -> String {
        let id = try reserve(connection)
        let begun = start { parts async throws(TokenError) in
            try await parts.signIns.begin(BeginDeviceCode(parameters: parameters, account: account), as: id)
        }
        await provider.deviceCodes.next().answer(.sample(expiresIn: expiresIn))
        return try await begun.value().sessionID
    }

    func completeDeviceCode(_ id: String, for connection: ConnectionID = .sample) -> Pending<TokenResult> {
        signIns.connectionOpened(connection)
        return start { parts async throws(TokenError) in
            try await parts.signIns.complete(CompleteDeviceCode(sessionID: id), for: connection)
        }
    }
}
