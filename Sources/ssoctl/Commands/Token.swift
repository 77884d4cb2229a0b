internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Prints an access token, without user interaction.
struct TokenCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print an access token and nothing else, without user interaction.")

    @OptionGroup var target: TargetOptions
    @OptionGroup var account: AccountOptions

    @Flag(name: .customLong("force-refresh"), help: "Do not use a cached access token.")
    var forceRefresh = false

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var accessToken: String
        var expiresOn: Int64
        var scopes: [String]
        var account: AccountJSON
        var tokenType: String
        var fromCache: Bool
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        let parameters = try target.parameters()
        do throws(TokenError) {
            let result = try await agent.acquireTokenSilent(
                AcquireTokenSilent(parameters: parameters, account: account.reference, forceRefresh: forceRefresh))
            return Printout(
                accessToken: result.accessToken.reveal(), expiresOn: result.expiresOn, scopes: result.scopes,
                account: AccountJSON(result.account), tokenType: result.tokenType, fromCache: result.isFromCache)
        } catch  where error.code == .interactionRequired {
            do throws(TokenError) {
                try await account.requireKnown(agent, in: parameters.sharingGroup)
            } catch let other where other.code == .requestDenied {
                // A sandboxed app, and one at a published socket, may not list all accounts.
                throw error
            }
            throw error
        }
    }

    func describe(_ token: Printout) -> String? { token.accessToken }
}
