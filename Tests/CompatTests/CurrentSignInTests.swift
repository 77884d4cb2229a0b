internal import ADALCompat
internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// A process has one sign-in in progress at most, whichever library starts it.
@Suite(.bounded) struct CurrentSignInTests {
    private static let alice = "alice@contoso.com"
    private static let graph = "https://graph.microsoft.com"

    @Test func refusesASecondSignInUntilTheFirstEnds() async {
        let current = CurrentSignIn()
        let (first, second, third) = (EndlessSignIn(current), EndlessSignIn(current), EndlessSignIn(current))
        async let firstEnd = first.run()
        await first.hasBegun()
        #expect(await second.run() == TokenError(.interactionInProgress, "not now"))
        #expect(current.cancel())
        #expect(await firstEnd?.code == .cancelled)
        #expect(!current.cancel())

        async let thirdEnd = third.run()
        await third.hasBegun()
        #expect(current.cancel())
        #expect(await thirdEnd?.code == .cancelled)
    }

    @Test func cancelsTheSignInWithTheTaskThatWaitsForIt() async {
        let signIn = EndlessSignIn(CurrentSignIn())
        let task = Task { await signIn.run() }
        await signIn.hasBegun()
        task.cancel()
        #expect(await task.value?.code == .cancelled)
    }

    @Test func cancelsNothingWhenNoSignInIsInProgress() {
        #expect(!CurrentSignIn().cancel())
        ADWebAuthController.cancelCurrentWebAuthSession()
    }

    @Test func isTheSameForBothLibraries() throws {
        let application = try MSALPublicClientApplication(clientId: "app-1")
        let context = try #require(
            ADAuthenticationContext(authority: "https://login.microsoftonline.com/common", error: nil))
        #expect(application.session?.currentSignIn === CurrentSignIn.shared)
        #expect(context.currentSignIn === CurrentSignIn.shared)
    }

    @Test func refusesASignInOfADALDuringOneOfMSAL() async throws {
        try await AgentFixture.with { f in
            let current = CurrentSignIn()
            f.emulator.control.inject(Self.heldPage)
            let first = Task { try await f.msal(currentSignIn: current).signIn(Self.alice).accessToken }
            await f.emulator.control.waitForHeld(atLeast: 1)

            let refused = try await signIn(f.adal(currentSignIn: current))
            #expect(refused.status == AD_FAILED)
            #expect(refused.error?.domain == ADAuthenticationErrorDomain)
            #expect(refused.error?.code == ADErrorCode.ERROR_UI_MULTLIPLE_INTERACTIVE_REQUESTS.rawValue)

            f.emulator.control.release()
            let token = try await first.value
            #expect(!token.isEmpty)
            let admitted = try await signIn(f.adal(currentSignIn: current))
            #expect(admitted.status == AD_SUCCEEDED)
        }
    }

    @Test func refusesASignInOfMSALDuringOneOfADAL() async throws {
        try await AgentFixture.with { f in
            let current = CurrentSignIn()
            f.emulator.control.inject(Self.heldPage)
            let first = Task { try await signIn(f.adal(currentSignIn: current)).accessToken }
            await f.emulator.control.waitForHeld(atLeast: 1)

            let refused = await appError { try await f.msal(currentSignIn: current).signIn(Self.alice) }
            #expect(refused?.domain == MSALErrorDomain)
            #expect(refused?.code == MSALError.internal.rawValue)
            #expect(
                refused?.internalCode == MSALInternalError.internalErrorInteractiveSessionAlreadyRunning.rawValue)
            #expect(
                refused?.userInfo[MSALErrorDescriptionKey] as? String
                    == "Only one interactive session is allowed at a time.")

            f.emulator.control.release()
            let token = try await first.value
            #expect(token?.isEmpty == false)
            let admitted = try await f.msal(currentSignIn: current).signIn(Self.alice)
            #expect(!admitted.accessToken.isEmpty)
        }
    }

    /// A sign-in page that does not answer until the test releases it.
    private static let heldPage = Fault {
        $0.endpoint = .authorize
        $0.hold = true
    }

    private func signIn(_ context: ADAuthenticationContext) async throws -> ADAuthenticationResult {
        await context.acquireToken(
            withResource: Self.graph, clientId: "app-1", redirectUri: try url("http://localhost"),
            promptBehavior: AD_PROMPT_ALWAYS, userId: Self.alice, extraQueryParameters: nil)
    }

    /// A sign-in that lasts until it is cancelled.
    private struct EndlessSignIn {
        let current: CurrentSignIn
        let begun = AsyncStream.makeStream(of: Void.self)

        init(_ current: CurrentSignIn) { self.current = current }

        /// The error that the sign-in ends with.
        func run() async -> TokenError? {
            do throws(TokenError) {
                _ = try await current.run(refusal: "not now") { [begun] () throws(TokenError) in
                    begun.continuation.finish()
                    for await _ in AsyncStream<Void>.makeStream().stream {}
                    throw TokenError(.cancelled, "the sign-in was cancelled")
                }
                return nil
            } catch {
                return error
            }
        }

        func hasBegun() async { for await _ in begun.stream {} }
    }
}
