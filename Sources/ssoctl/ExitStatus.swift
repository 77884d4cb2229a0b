internal import TokenModel

/// How a command ends; a contract with scripts.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    case interactionRequired = 2
    case noSuchAccount = 3
    case agentUnavailable = 4

    init(_ error: TokenError) {
        self =
            switch error.code {
            case .interactionRequired: .interactionRequired
            case .accountNotFound: .noSuchAccount
            case .agentUnavailable, .peerNotAuthorized: .agentUnavailable
            default: .failed
            }
    }
}

/// A failure as JSON.
struct Failure: Encodable {
    struct Body: Encodable {
        var code: Int32
        var name: String
        var message: String
    }

    var error: Body

    init(_ error: TokenError) {
        self.error = Body(code: error.code.number, name: error.code.name, message: error.message)
    }
}
