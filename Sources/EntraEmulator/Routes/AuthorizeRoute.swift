internal import Foundation
internal import NIOHTTP1

/// `GET …/authorize`: signs in the user that `login_hint` names, or the only one, without a page.
struct AuthorizeRoute: Sendable {
    let state: EmulatorState
    /// The identifiers that the header fields of the response have, too.
    let trace: RequestTrace

    /// In seconds.
    private static let codeLifetime: TimeInterval = 600

    /// The result of an authorization request.
    private enum Outcome: Sendable {
        case code(String, User, cloudHost: String?)
        case choice([User])
    }

    func respond(to request: EmulatorRequest) throws -> Response {
        var request = request
        let (sent, now) = (request, state.now)
        request.parameters = try state.update { (contents) throws(OAuthFailure) in
            try contents.ledger.authorizationParameters(of: sent, contents.settings.pushedRequests, now: now)
        }
        let reply = try AuthorizeReply(request, state.update { $0.settings })
        // RFC 6749 section 4.1.2.1 forbids a redirect without the app, whose URI it would be, and to an unregistered URI.
        let clientID = try request.parameters.required("client_id")
        if let refusal = state.update({ $0.settings.refusal(of: reply.redirectURI, for: clientID) }) {
            let text = htmlEscaped(refusal.description(trace: trace))
            return Page(title: "The sign-in failed", content: "<p>\(text)</p>").response(status: .badRequest)
        }
        do throws(OAuthFailure) {
            switch try outcome(of: request, redirectURI: reply.redirectURI, clientID: clientID) {
            case .code(let code, let user, let cloudHost):
                return reply.success(code: code, user: user, cloudHost: cloudHost)
            case .choice(let users):
                return AccountPicker(
                    users: users, request: repeatable(sent, clientID: clientID, parameters: request.parameters),
                    redirectURI: reply.redirectURI
                ).response
            }
        } catch {
            return reply.failure(error.ofAuthorization, trace: trace)
        }
    }

    /// The request for the links of a page. A pushed request has been used, and gets another reference, valid as long as a code.
    private func repeatable(_ sent: EmulatorRequest, clientID: String, parameters: Parameters) -> EmulatorRequest {
        guard sent.parameters["request_uri"] != nil else { return sent }
        let pushed = PushedRequest(
            clientID: clientID, authority: sent.authority, parameters: parameters,
            expiresOn: state.now + Self.codeLifetime, isWithoutUser: true)
        var request = sent
        request.parameters["request_uri"] = state.update { $0.ledger.issue(pushed) }
        return request
    }

    private func outcome(
        of request: EmulatorRequest, redirectURI: String, clientID: String
    ) throws(OAuthFailure) -> Outcome {
        let pkce = try request.checkAuthorization()
        let claims = try ClaimsRequest(request)
        let now = state.now
        // A provider of OpenID Connect answers `max_age` with the time of the sign-in (Core section 3.1.2.1).
        let namesTime = request.authority.kind == .openID && request.parameters["max_age"] != nil
        return try state.update { (contents) throws(OAuthFailure) in
            let users = try contents.ledger.usersToSignIn(request)
            guard let user = users.first, users.count == 1 else { return .choice(users) }
            guard !user.isDisabled else { throw .disabledUser }
            let cloud = request.homeCloud(of: user, contents.settings)
            let issuer = request.issuer(contents.settings, contents.ledger.directory, in: cloud)
            let code = AuthorizationCode(
                user: user, tenantID: try contents.ledger.tenantID(of: user, at: request.authority.realm),
                issuer: issuer,
                clientID: clientID, redirectURI: redirectURI, pkce: pkce,
                scopes: request.parameters.words("scope"), resource: request.parameters["resource"],
                nonce: request.parameters["nonce"], claims: claims, authenticatedOn: namesTime ? now : nil,
                expiresOn: now + Self.codeLifetime)
            contents.counts.signIns += 1
            return .code(contents.ledger.issue(code), user, cloudHost: cloud?.hosts.first)
        }
    }
}

extension EmulatorSettings {
    /// The error for a redirect URI that is no absolute URI (RFC 6749 section 3.1.2) or is not registered; nil if it is registered, or if the
    /// app's redirect URIs are not checked.
    func refusal(of redirectURI: String, for clientID: String) -> OAuthFailure? {
        guard RegisteredRedirect.isAbsolute(redirectURI) else { return .malformedRedirectURI }
        guard let registered = redirectURIs.value(ofApp: clientID),
            !registered.contains(where: RegisteredRedirect(redirectURI).matches)
        else { return nil }
        return .unregisteredRedirectURI(redirectURI, clientID: clientID)
    }
}

extension EmulatorRequest {
    /// Checks what an authorization request asks for, whoever signs in.
    ///
    /// - Returns: its challenge.
    /// - Throws: the error that its app gets.
    func checkAuthorization() throws(OAuthFailure) -> PKCE {
        _ = try parameters.required("response_type")
        guard parameters.words("response_type") == ["code"] else { throw .unsupportedResponseType }
        guard [nil, "query", "fragment", "form_post"].contains(parameters["response_mode"]) else {
            throw .unsupportedResponseMode
        }
        try checkPrompt()
        try checkScopes()
        return try PKCE(parameters)
    }

    /// The values of `prompt` that Entra accepts, those for ADAL included.
    private static let prompts: Set = [
        "login", "none", "consent", "select_account", "create", "admin_consent", "attempt_none", "refresh_session",
    ]

    /// - Throws: `unsupportedPrompt` if several values are combined with `none` (OpenID Connect Core section 3.1.2.1) or, at Entra, at
    ///   all, or if Entra does not know the value.
    private func checkPrompt() throws(OAuthFailure) {
        let asked = parameters.words("prompt").map { $0.lowercased() }
        let isEntra = [.entra, .ciam].contains(authority.kind)
        guard asked.count < 2 || !isEntra && !asked.contains("none"),
            !isEntra || asked.allSatisfy(Self.prompts.contains)
        else { throw .unsupportedPrompt }
    }
}

extension Ledger {
    /// The users that can sign in; of several, one has to be chosen.
    fileprivate mutating func usersToSignIn(_ request: EmulatorRequest) throws(OAuthFailure) -> [User] {
        if let hint = request.parameters["login_hint"] { return [addUser(hint)] }
        let known = candidates(at: request.authority.realm)
        if request.parameters["prompt"] == "none", known.count != 1 {
            throw known.isEmpty ? .loginRequired : .interactionRequired
        }
        return known.isEmpty ? [addUser(directory.defaultUsername(realm: request.authority.realm))] : known
    }
}

/// Sends the response to an authorization request to the redirect URI, in the requested response mode.
struct AuthorizeReply: Sendable {
    let redirectURI: String
    private let mode: String
    private let state: String?
    /// The issuer of an OpenID provider, which its responses name (RFC 9207 section 2).
    private let issuer: String?
    private let wantsClientInfo: Bool
    private let replacements: [String: JSON]

    /// - Throws: `missingParameter` if the request has no redirect URI.
    init(_ request: EmulatorRequest, _ settings: EmulatorSettings) throws(OAuthFailure) {
        redirectURI = try request.parameters.required("redirect_uri")
        mode = request.parameters["response_mode"] ?? "query"
        state = request.parameters["state"]
        issuer = request.authority.kind == .openID ? "\(request.baseURL)/\(request.authority.path)" : nil
        replacements = settings.authorizationReply
        wantsClientInfo = request.parameters["client_info"] == "1" && request.authority.kind == .entra
    }

    /// - Parameter cloudHost: the cloud that redeems the code, if it is another one.
    func success(code: String, user: User, cloudHost: String?) -> Response {
        var fields = ["code": code]
        fields["cloud_instance_host_name"] = cloudHost
        if wantsClientInfo {
            fields["client_info"] = user.clientInfo
        }
        return response(fields)
    }

    func failure(_ failure: OAuthFailure, trace: RequestTrace) -> Response {
        var fields = ["error": failure.error, "error_description": failure.description(trace: trace)]
        fields["error_subcode"] = failure.suberror
        fields["claims"] = failure.claims
        return response(fields)
    }

    private func response(_ fields: [String: String]) -> Response {
        var fields = fields
        fields["state"] = state
        fields["iss"] = issuer
        for (name, value) in replacements { fields[name] = if case .string(let text) = value { text } else { nil } }
        switch mode {
        case "form_post": return form(fields).response()
        case "fragment": return redirect(to: "\(redirectURI)#\(Parameters(fields).encoded)")
        default:
            let separator = redirectURI.contains("?") ? "&" : "?"
            return redirect(to: "\(redirectURI)\(separator)\(Parameters(fields).encoded)")
        }
    }

    private func redirect(to location: String) -> Response {
        .redirect(to: location, headers: ["Cache-Control": "no-store, no-cache"])
    }

    /// A form that the browser posts to the redirect URI by itself; without scripts, the user does.
    private func form(_ fields: [String: String]) -> Page {
        Page(
            title: "Back to the app",
            content: """
                <form method="post" action="\(htmlEscaped(redirectURI))">
                \(Page.hiddenFields(fields))
                <button>Continue</button>
                </form>
                """,
            formTargets: [Page.source(of: redirectURI)], script: "document.forms[0].submit()")
    }
}

/// The page on which the user chooses an account, or names another one.
private struct AccountPicker: Sendable {
    let users: [User]
    /// The request that a link or the form repeats, with the user.
    let request: EmulatorRequest
    let redirectURI: String

    var response: Response {
        let app = request.clientID.map { " to the app <strong>\(htmlEscaped($0))</strong>" } ?? ""
        return Page(
            title: "Pick an account",
            content: """
                <p>You are signing in\(app).</p>
                <ul>
                \(users.map(link).joined(separator: "\n"))
                </ul>
                <form method="get" action="\(htmlEscaped(request.path))">
                \(Page.hiddenFields(repeated.fields))
                <label for="username">Another username</label>
                <input id="username" name="login_hint" type="text" inputmode="email" autocomplete="off" \
                autocapitalize="none" spellcheck="false" required>
                <button>Sign in</button>
                </form>
                """,
            // The reply to the form is a redirect, to which the policy applies too.
            formTargets: ["'self'", Page.source(of: redirectURI)]
        ).response()
    }

    /// The parameters of the request, without those that say who signs in.
    private var repeated: Parameters {
        Parameters(request.parameters.fields.filter { !["login_hint", "prompt"].contains($0.key) })
    }

    /// A link that repeats the request with the user as `login_hint`.
    private func link(_ user: User) -> String {
        var parameters = repeated
        parameters["login_hint"] = user.username
        let target = "\(request.path)?\(parameters.encoded)"
        return """
            <li><a href="\(htmlEscaped(target))"><strong>\(htmlEscaped(user.name))</strong>\
            <span>\(htmlEscaped(user.username))</span></a></li>
            """
    }
}

/// Compares redirect URIs as Entra does: as text, but without the port of loopback addresses (RFC 8252 section 7.3).
struct RegisteredRedirect: Sendable {
    private let comparable: String

    init(_ uri: String) {
        guard var parts = URLComponents(string: uri), parts.scheme == "http", let host = parts.host,
            ["localhost", "127.0.0.1"].contains(host)
        else {
            comparable = uri
            return
        }
        parts.port = nil
        if parts.path == "/" { parts.path = "" }
        comparable = parts.string ?? uri
    }

    func matches(_ registered: String) -> Bool { comparable == RegisteredRedirect(registered).comparable }

    /// Whether a URI begins with a scheme (RFC 3986 section 4.3), and has no fragment.
    static func isAbsolute(_ uri: String) -> Bool {
        let parts = uri.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let scheme = parts.first, let first = scheme.first, !uri.contains("#") else {
            return false
        }
        return first.isASCII && first.isLetter
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}
