internal import ADALCompat
internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct ADALInteractiveSessionTests {
    /// A sign-in that lasts until it is cancelled.
    private struct EndlessSignIn {
        let session: InteractiveSession
        let begun = AsyncStream.makeStream(of: Void.self)

        func run() async -> TokenError.Code? {
            do throws(TokenError) {
                _ = try await session.run { [begun] () throws(TokenError) in
                    begun.continuation.finish()
                    for await _ in AsyncStream<Void>.makeStream().stream {}
                    throw TokenError(.cancelled, "given up")
                }
                return nil
            } catch {
                return error.code
            }
        }

        func hasBegun() async { for await _ in begun.stream {} }
    }

    @Test func refusesASecondSignInUntilTheFirstEnds() async {
        let session = InteractiveSession()
        let (first, second, third) = (
            EndlessSignIn(session: session), EndlessSignIn(session: session), EndlessSignIn(session: session)
        )
        async let firstEnd = first.run()
        await first.hasBegun()
        #expect(await second.run() == .interactionInProgress)
        session.cancel()
        #expect(await firstEnd == .cancelled)

        async let thirdEnd = third.run()
        await third.hasBegun()
        session.cancel()
        #expect(await thirdEnd == .cancelled)
    }

    @Test func endsWithTheTaskThatWaitsForIt() async {
        let signIn = EndlessSignIn(session: InteractiveSession())
        let task = Task { await signIn.run() }
        await signIn.hasBegun()
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func cancelsNothingWhenNothingIsUnderWay() {
        InteractiveSession().cancel()
        ADWebAuthController.cancelCurrentWebAuthSession()
    }
}
