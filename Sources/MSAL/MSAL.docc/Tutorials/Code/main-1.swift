import MSAL

guard let url = URL(string: "http://127.0.0.1:8400/common") else { exit(64) }
let authority = try MSALAuthority(url: url)
let config = MSALPublicClientApplicationConfig(
    clientId: "small-app", redirectUri: "http://localhost", authority: authority)
config.knownAuthorities = [authority]
let application = try MSALPublicClientApplication(configuration: config)
