import MSAL

guard let url = URL(string: "http://127.0.0.1:8400/common") else { exit(64) }
let authority = try MSALAuthority(url: url)
let config = MSALPublicClientApplicationConfig(
    clientId: "small-app", redirectUri: "http://localhost", authority: authority)
config.knownAuthorities = [authority]
let application = try MSALPublicClientApplication(configuration: config)

@MainActor func silently() async throws -> MSALResult? {
    let accounts = try application.allAccounts()
    guard let account = accounts.first, accounts.count == 1 else { return nil }
    do {
        return try await application.acquireTokenSilent(
            with: MSALSilentTokenParameters(scopes: ["User.Read"], account: account))
    } catch let error as NSError
        where error.domain == MSALErrorDomain && error.code == MSALError.interactionRequired.rawValue
    {
        return nil
    }
}
