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

@MainActor func signIn() async throws -> MSALResult {
    let webview = MSALWebviewParameters(authPresentationViewController: UIViewController())
    return try await application.acquireToken(
        with: MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: webview))
}

if CommandLine.arguments.contains("--sign-out") {
    for account in try application.allAccounts() { try application.remove(account) }
    exit(0)
}

let result: MSALResult
if let known = try await silently() { result = known } else { result = try await signIn() }
print("\(result.account.username ?? "?"): a token until \(result.expiresOn.map(String.init(describing:)) ?? "?")")
