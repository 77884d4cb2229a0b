internal import ADALCompat
internal import Dispatch
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// Requests with completion blocks in a copy (`fork`) of the process, whose tasks and queues do not run.
@Suite(.bounded) struct CopiedProcessTests {
    @Test(.enabled(if: !Sanitizer.isOfThreads)) func callsTheBlocksOfMSALWithAnErrorBeforeTheMethodReturns() async {
        await #expect(processExitsWith: .success) {
            let app = try MSALPublicClientApplication(clientId: "app-1")
            let account = MSALAccount(Sample.account(home: "uid.utid"))
            let silent = MSALSilentTokenParameters(scopes: ["User.Read"], account: account)
            silent.completionBlockQueue = DispatchQueue(label: "app")
            let interactive = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
            let calls: [(@escaping @Sendable ((any Error)?) -> Void) -> Void] = [
                { end in app.acquireTokenSilent(with: silent) { end($1) } },
                { end in app.acquireToken(with: interactive) { end($1) } },
                { end in app.signout(with: account, signoutParameters: MSALSignoutParameters()) { end($1) } },
            ]
            for (index, call) in calls.enumerated() {
                let child = try CopiedProcess.make()
                if child == 0 {
                    call { error in
                        let code = error.map { ($0 as NSError).code }
                        _exit(code == MSALError.internal.rawValue ? 0 : 2)
                    }
                    _exit(1)
                }
                #expect(CopiedProcess.wait(for: child) == 0, "call \(index)")
            }
        }
    }

    @Test(.enabled(if: !Sanitizer.isOfThreads)) func callsTheBlocksOfADALWithAnErrorBeforeTheMethodReturns() async {
        await #expect(processExitsWith: .success) {
            let authority = "https://login.microsoftonline.com/common"
            let context = try #require(ADAuthenticationContext(authority: authority, error: nil))
            let redirect = try #require(URL(string: "http://localhost"))
            let child = try CopiedProcess.make()
            if child == 0 {
                context.acquireTokenSilent(
                    withResource: "https://graph.microsoft.com", clientId: "app-1", redirectUri: redirect,
                    userId: "alice@contoso.com"
                ) { result in _exit(result.status == AD_FAILED ? 0 : 2) }
                _exit(1)
            }
            #expect(CopiedProcess.wait(for: child) == 0)
        }
    }
}
