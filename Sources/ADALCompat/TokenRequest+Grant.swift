internal import AgentClient
internal import TokenModel

extension TokenRequest {
    /// What the app holds to get a token for.
    enum Grant: Sendable {
        case refreshToken(String)
        case assertion(String, ADAssertionType)
    }

    /// A token for what the app holds.
    func acquire(_ grant: Grant) async throws(ADAuthenticationError) -> TokenResult {
        let parameters = try parameters()
        switch grant {
        case .refreshToken(let token):
            guard token.trimmedNonEmpty != nil else { throw .invalidArgument("refreshToken must not be blank") }
            do throws(TokenError) {
                return try await redeem(token, .refreshToken, parameters)
            } catch {
                throw .refreshing(error)
            }
        case .assertion(let assertion, let type):
            let kind = try type.kind
            guard assertion.trimmedNonEmpty != nil else { throw .invalidArgument("assertion must not be blank") }
            do throws(ADAuthenticationError) {
                return try await acquireSilently(parameters)
            } catch {
                guard error.invitesInteraction else { throw error }
            }
            let token = try await redeemAssertion(assertion, kind, parameters)
            try check(token)
            return token
        }
    }

    private func redeemAssertion(
        _ assertion: String, _ kind: RedeemGrant.Kind, _ parameters: TokenParameters
    ) async throws(ADAuthenticationError) -> TokenResult {
        do throws(TokenError) {
            return try await redeem(assertion, kind, parameters)
        } catch {
            throw ADAuthenticationError(error)
        }
    }

    private func redeem(
        _ grant: String, _ kind: RedeemGrant.Kind, _ parameters: TokenParameters
    ) async throws(TokenError) -> TokenResult {
        try await agent.redeemGrant(
            RedeemGrant(
                parameters: parameters, kind: kind, grant: Secret(grant),
                account: AccountReference(username: identifier?.userId)))
    }
}

extension ADAssertionType {
    fileprivate var kind: RedeemGrant.Kind {
        get throws(ADAuthenticationError) {
            switch self {
            case AD_SAML1_1: return .saml11
            case AD_SAML2: return .saml2
            default: throw .invalidArgument("assertionType has to be AD_SAML1_1 or AD_SAML2")
            }
        }
    }
}
