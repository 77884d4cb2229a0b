internal import Foundation
internal import TokenModel

@testable internal import MSALCompat

/// Values for the tests of this folder.
enum Sample {
    static let home = "0a1b2c3d-1111-2222-3333-444455556666.9f8e7d6c-aaaa-bbbb-cccc-ddddeeeeffff"
    static let tenant = "9f8e7d6c-aaaa-bbbb-cccc-ddddeeeeffff"

    /// An unsigned JWT with these claims; its header has an `alg` and a `kid`.
    static func jwt(_ claims: [String: String]) -> String {
        let parts: [[String: String]] = [["alg": "none", "kid": "k1", "typ": "JWT"], claims]
        let encoded = parts.map { part in
            Base64URL.encode((try? JSONSerialization.data(withJSONObject: part)) ?? Data())
        }
        return encoded.joined(separator: ".") + "."
    }

    static func account(
        home: String? = home, username: String? = "Anna@Contoso.com", environment: String = "login.windows.net",
        homeIDToken: String? = nil
    ) -> Account {
        Account(
            homeAccountID: home.flatMap(HomeAccountID.init), username: username, environment: environment,
            source: .msal, homeIDToken: homeIDToken)
    }

    static func profile(_ realm: String = tenant, isHome: Bool = true, idToken: String? = nil) -> TenantProfile {
        TenantProfile(
            realm: realm, localAccountID: "0a1b2c3d-1111-2222-3333-444455556666", username: "Anna@Contoso.com",
            environment: "login.windows.net", isHome: isHome, idToken: idToken)
    }

    static func result(
        scopes: [String] = ["User.Read"], idToken: String? = nil, profile: TenantProfile? = profile(),
        accessToken: String = "secret"
    ) -> TokenResult {
        TokenResult(
            accessToken: Secret(accessToken), tokenType: "Bearer", expiresOn: 1_800_000_000, scopes: scopes,
            idToken: idToken, account: account(), tenantProfile: profile,
            authority: "https://login.microsoftonline.com/\(tenant)", correlationID: CorrelationID(),
            isFromCache: true)
    }

    /// Webview parameters, which a sign-in requires and does not use.
    static var webview: MSALWebviewParameters {
        #if canImport(UIKit) || canImport(AppKit)
            // A view controller belongs to the main actor.
            let make = { MainActor.assumeIsolated { UIViewController() } }
            let controller = Thread.isMainThread ? make() : DispatchQueue.main.sync(execute: make)
        #else
            let controller = UIViewController()
        #endif
        return MSALWebviewParameters(authPresentationViewController: controller)
    }

    /// Returns the error that `body` throws.
    static func failure(_ body: () throws -> Void) -> NSError? {
        do {
            try body()
            return nil
        } catch {
            return error as NSError
        }
    }
}

extension NSError {
    /// The number under `MSALInternalErrorCodeKey`.
    var internalCode: Int? { (userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue }
}
