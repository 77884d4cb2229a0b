internal import AgentSocket
internal import Logging
internal import TokenModel
internal import TokenWire

/// What the log may say of a request: its kind, its app, its outcome; never a token, a code, or who the user is.
struct RequestLog: Sendable {
    let logger: Logger
    let peer: PeerCredentials

    func replied(to request: Request, with reply: Reply.Body) {
        guard logger.logLevel <= .debug else { return }
        var metadata: Logger.Metadata = ["request": "\(request.body.name)", "id": "\(request.id)"]
        if let processID = peer.processID { metadata["pid"] = "\(processID)" }
        if case .failure(let error) = reply { metadata["failure"] = "\(error.code.name)" }
        if let parameters = request.body.parameters {
            metadata["client_id"] = "\(Self.safe(parameters.clientID.text))"
            metadata["correlation_id"] = "\(parameters.correlationID)"
        }
        logger.debug("replied", metadata: metadata)
    }

    /// A redirect URI in use, and the app that asked for the sign-in.
    static func redirect(_ uri: String, of parameters: TokenParameters) -> Logger.Metadata {
        [
            "client_id": "\(safe(parameters.clientID.text))", "correlation_id": "\(parameters.correlationID)",
            "redirect_uri": "\(safe(uri))",
        ]
    }

    /// Text from outside, short and on one line.
    static func safe(_ text: String) -> String {
        String(text.prefix(80).map { $0.isLetter || $0.isNumber || "-_.:/@".contains($0) ? $0 : "?" })
    }
}

extension Request.Body {
    /// The request's name in the protocol.
    var name: String {
        switch self {
        case .hello: "hello"
        case .acquireTokenSilent: "acquire_token_silent"
        case .beginInteractive: "begin_interactive"
        case .completeInteractive: "complete_interactive"
        case .beginDeviceCode: "begin_device_code"
        case .completeDeviceCode: "complete_device_code"
        case .cancelInteraction: "cancel_interaction"
        case .listAccounts: "list_accounts"
        case .removeAccount: "remove_account"
        case .getStatus: "get_status"
        case .diagnose: "diagnose"
        case .listCredentials: "list_credentials"
        case .removeCredential: "remove_credential"
        case .redeemGrant: "redeem_grant"
        case .getCurrentAccount: "get_current_account"
        case .importCache: "import_cache"
        case .exportCache: "export_cache"
        case .getKey: "get_key"
        case .setKey: "set_key"
        case .unlock: "unlock"
        case .rejected: "rejected"
        }
    }

    fileprivate var parameters: TokenParameters? {
        switch self {
        case .acquireTokenSilent(let request): request.parameters
        case .beginInteractive(let request): request.parameters
        case .beginDeviceCode(let request): request.parameters
        case .redeemGrant(let request): request.parameters
        default: nil
        }
    }
}
