internal import Foundation
internal import NIOHTTP1

/// `POST …/token`: redeems codes, refresh tokens, device codes and assertions.
struct TokenRoute: Sendable {
    let state: EmulatorState
    let key: SigningKey

    func respond(to request: EmulatorRequest) throws -> Response {
        guard request.method == .POST else { throw OAuthFailure.notPosted }
        _ = try request.parameters.required("grant_type")
        guard let grant = request.grant else { throw OAuthFailure.unsupportedGrant }
        let (descriptor, mint) = try redeem(grant, request)
        let wantsClientInfo = request.parameters["client_info"] == "1"
        let home = request.homeCloud(of: descriptor.user, mint.settings)
        return try .json(
            TokenReply(
                mint: mint, descriptor: descriptor, wantsClientInfo: wantsClientInfo, cloudName: home?.hosts.first
            ).json())
    }

    private func redeem(
        _ grant: GrantType, _ request: EmulatorRequest
    ) throws(OAuthFailure) -> (TokenDescriptor, TokenMint) {
        let now = state.now
        return try state.update { (contents) throws(OAuthFailure) in
            let redemption = try Redemption(
                request, settings: contents.settings, directory: contents.ledger.directory, now: now)
            let mint = TokenMint(
                key: key, directory: contents.ledger.directory,
                baseURL: request.authority.kind == .openID ? request.baseURL : contents.baseURL,
                authority: request.authority, version: request.address.version, settings: contents.settings)
            do throws(OAuthFailure) {
                return (try contents.ledger.redeem(grant, redemption, &contents.counts), mint)
            } catch {
                if error == .reusedToken { contents.counts.reusedRefreshTokens += 1 }
                throw error
            }
        }
    }
}

extension Ledger {
    fileprivate mutating func redeem(
        _ grant: GrantType, _ redemption: Redemption, _ counts: inout Counts
    ) throws(OAuthFailure) -> TokenDescriptor {
        switch grant {
        case .authorizationCode: return try redeemCode(redemption)
        case .refreshToken: return try redeemRefreshToken(redemption)
        case .deviceCode:
            let descriptor = try redeemDeviceCode(redemption)
            counts.signIns += 1
            return descriptor
        case .saml11Bearer, .saml2Bearer: return try redeemAssertion(redemption)
        }
    }
}
