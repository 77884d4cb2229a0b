internal import ADAL
internal import CompatReport
internal import Foundation

/// The steps of an ADAL app, which finds users by user name and removes no account.
struct ADALSteps {
    private static let resource = "https://graph.microsoft.com"

    private let context: ADAuthenticationContext
    private let clientID: String
    private let redirectURI: URL

    init(_ options: Options) throws {
        guard let redirectURI = URL(string: "http://localhost"),
            let context = ADAuthenticationContext(authority: options.authority, validateAuthority: false, error: nil)
        else { throw URLError(.badURL) }
        self.context = context
        self.redirectURI = redirectURI
        clientID = options.clientID
    }

    func take(_ step: Options.Step) async throws -> Report {
        switch step {
        case .signIn(let name):
            report(
                await context.acquireToken(
                    withResource: Self.resource, clientId: clientID, redirectUri: redirectURI, userId: name))
        case .silent(let name):
            report(
                await context.acquireTokenSilent(
                    withResource: Self.resource, clientId: clientID, redirectUri: redirectURI, userId: name))
        case .accounts, .remove: throw CocoaError(.featureUnsupported)
        }
    }

    private func report(_ result: ADAuthenticationResult) -> Report {
        guard result.status == AD_SUCCEEDED else { return result.error.map { Report($0) } ?? Report() }
        var report = Report()
        let user = result.tokenCacheItem?.userInformation
        report.username = user?.userId
        report.identifier = user?.homeAccountId
        report.token = result.accessToken
        report.authority = result.authority
        report.tenant = user?.tenantId
        return report
    }
}
