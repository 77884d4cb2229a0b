internal import Foundation
internal import NIOHTTP1

/// `GET …/authorize`: signs the hinted or only user in at once, without a password.
struct AuthorizeRoute: Sendable {
    let state: EmulatorState

    /// What a request leads to.
    private enum Outcome: Sendable {
        case code(String, User, cloudHost: String?)
        case choice([User])
    }

    func respond(to request: EmulatorRequest) throws -> Response {
        let reply = try AuthorizeReply(request)
        if let refusal = refusal(of: reply.redirectURI, request) {
            // An error page and no redirect: RFC 6749 section 4.1.2.1 forbids to redirect to an unknown URI.
            let text = htmlEscaped(refusal.description(trace: state.trace(of: request)))
            return .html(
                "<!doctype html><title>Sign in</title><h1>The sign-in failed</h1><p>\(text)</p>", status: .badRequest)
        }
        do throws(OAuthFailure) {
            switch try outcome(of: request, redirectURI: reply.redirectURI) {
            case .code(let code, let user, let cloudHost):
                return reply.success(code: code, user: user, cloudHost: cloudHost)
            case .choice(let users): return AccountPicker(users: users, request: request).response
            }
        } catch {
            return reply.failure(error, trace: state.trace(of: request))
        }
    }

    /// The refusal of a redirect URI that is not registered; nil when it is, or when the app's are not checked.
    private func refusal(of redirectURI: String, _ request: EmulatorRequest) -> OAuthFailure? {
        guard let clientID = request.parameters["client_id"],
            let registered = state.update({ $0.settings.redirectURIs[clientID] }),
            !registered.contains(where: RegisteredRedirect(redirectURI).matches)
        else { return nil }
        return .unregisteredRedirectURI(redirectURI, clientID: clientID)
    }

    private func outcome(
        of request: EmulatorRequest, redirectURI: String
    ) throws(OAuthFailure) -> Outcome {
        guard request.parameters.words("response_type").contains("code") else { throw .unsupportedResponseType }
        let clientID = try request.parameters.required("client_id")
        let expiresOn = state.now + 600
        return try state.update { (contents) throws(OAuthFailure) in
            let users = try contents.ledger.usersToSignIn(request)
            guard let user = users.first, users.count == 1 else { return .choice(users) }
            guard !user.isDisabled else { throw .disabledUser }
            let cloud = request.homeCloud(of: user, contents.settings)
            let issuer = request.issuer(contents.settings, contents.ledger.directory, in: cloud)
            let code = AuthorizationCode(
                user: user, tenantID: try contents.ledger.tenantID(of: user, at: request.authority.realm),
                issuer: issuer,
                clientID: clientID, redirectURI: redirectURI, pkce: PKCE(request.parameters),
                scopes: request.parameters.words("scope"), resource: request.parameters["resource"],
                nonce: request.parameters["nonce"], expiresOn: expiresOn)
            contents.counts.signIns += 1
            return .code(contents.ledger.issue(code), user, cloudHost: cloud?.hosts.first)
        }
    }
}

extension Ledger {
    /// One user to sign in, or several to choose from.
    fileprivate mutating func usersToSignIn(_ request: EmulatorRequest) throws(OAuthFailure) -> [User] {
        if let hint = request.parameters["login_hint"] { return [addUser(hint)] }
        let known = candidates(at: request.authority.realm)
        if request.parameters["prompt"] == "none", known.count != 1 {
            throw known.isEmpty ? .loginRequired : .interactionRequired
        }
        return known.isEmpty ? [addUser(directory.defaultUsername(realm: request.authority.realm))] : known
    }
}
