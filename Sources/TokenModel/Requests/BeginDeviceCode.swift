/// Start a sign-in on another device (RFC 8628). Answered with `BeginDeviceCode.Reply`.
///
/// PROTOCOL.md, "begin_device_code".
public struct BeginDeviceCode: Sendable, Equatable {
    /// Which app asks, for what, from whom.
    public var parameters: TokenParameters
    /// Who has to sign in: another home account ID in the answer is `mismatchedAccount` (-51117).
    public var account: AccountReference

    /// A sign-in for `parameters`, of anybody unless `account` says whose.
    public init(parameters: TokenParameters, account: AccountReference = AccountReference()) {
        self.parameters = parameters
        self.account = account
    }

    /// What to tell the user.
    public struct Reply: Sendable, Equatable {
        /// Names the sign-in in `CompleteDeviceCode` and `CancelInteraction`.
        public var sessionID: String
        /// The code to type.
        public var userCode: String
        /// Where to type it.
        public var verificationURL: String
        /// A sentence that says both, in the issuer's words where it sent any.
        public var message: String
        /// How long the code is good, in seconds.
        public var expiresIn: Int64

        /// A reply with these members.
        public init(sessionID: String, userCode: String, verificationURL: String, message: String, expiresIn: Int64) {
            self.sessionID = sessionID
            self.userCode = userCode
            self.verificationURL = verificationURL
            self.message = message
            self.expiresIn = expiresIn
        }
    }
}

/// Wait for the user to finish on the other device. Answered with a `TokenResult`.
///
/// PROTOCOL.md, "complete_device_code".
public struct CompleteDeviceCode: Sendable, Equatable {
    /// The sign-in that `BeginDeviceCode` started.
    public var sessionID: String

    /// A wait for `sessionID`.
    public init(sessionID: String) {
        self.sessionID = sessionID
    }
}

extension BeginDeviceCode: AgentRequest {
    package static let number: UInt32 = 14
    package var isRepeatable: Bool { false }
    package var tokenParameters: TokenParameters? { parameters }
}

extension CompleteDeviceCode: AgentRequest {
    package typealias Reply = TokenResult
    package static let number: UInt32 = 15
    package var isRepeatable: Bool { false }
}
