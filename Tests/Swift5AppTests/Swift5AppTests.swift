internal import ADAL
internal import MSAL
internal import TestSupport
internal import Testing

/// Apps written before Swift 6, which have to compile without a warning.
@Suite(.bounded) struct Swift5AppTests {
    @MainActor @Test func hasOneViewControllerInAnAppWithBothLibraries() throws {
        let controller = NotesViewController()
        try controller.initMSAL()
        let context = MailService().context(controller)
        #expect(context?.parentController === controller.webViewParameters?.parentViewController)
    }

    @MainActor @Test func compilesTheViewControllerOfAnAppForMacOS() {
        let controller = MacNotesViewController()
        #expect(controller.webViewParameters.parentViewController === controller)
        #expect(MSALWebviewParameters().parentViewController !== controller)
    }

    @MainActor @Test func usesTheDoublesOfAnAppWithoutAnAgent() {
        let controller = NotesViewController()
        let double = ApplicationDouble()
        controller.application = double
        controller.acquireTokenSilently(MSALAccountDouble.account)
        #expect(controller.accessToken.isEmpty)
        controller.loadCurrentAccount { #expect($0 == nil) }
        controller.currentAccount = MSALAccountDouble.account
        controller.signOut()
        #expect(double.signOuts.count == 1)
        #expect(controller.currentAccount == nil)
        #expect(controller.accountsOfTheDevice().isEmpty)
        controller.readDeviceMode()
        #expect(controller.loggingText == "default")
    }
}

/// The view controller of an app for macOS.
class MacNotesViewController: NSViewController {
    private(set) lazy var webViewParameters = MSALWebviewParameters(authPresentationViewController: self)
}

/// The account of an empty result, which is the only account that an app can create.
private enum MSALAccountDouble {
    static var account: MSALAccount { MSALResult().account }
}

/// A test double of an app, without `@Sendable` and without a configuration.
final class ApplicationDouble: MSALPublicClientApplication {
    var signOuts: [MSALAccount] = []

    override func allAccounts() throws -> [MSALAccount] { [] }

    override func acquireTokenSilent(
        with parameters: MSALSilentTokenParameters, completionBlock: @escaping (MSALResult?, Error?) -> Void
    ) {
        completionBlock(MSALResult(), nil)
    }

    override func acquireToken(
        with parameters: MSALInteractiveTokenParameters, completionBlock: @escaping MSALCompletionBlock
    ) {
        completionBlock(nil, NSError(domain: MSALErrorDomain, code: MSALError.userCanceled.rawValue, userInfo: nil))
    }

    override func getCurrentAccount(
        with parameters: MSALParameters?, completionBlock: @escaping MSALCurrentAccountCompletionBlock
    ) {
        completionBlock(nil, nil, nil)
    }

    override func signout(
        with account: MSALAccount, signoutParameters: MSALSignoutParameters,
        completionBlock signoutCompletionBlock: @escaping MSALSignoutCompletionBlock
    ) {
        signOuts.append(account)
        signoutCompletionBlock(true, nil)
    }
}
