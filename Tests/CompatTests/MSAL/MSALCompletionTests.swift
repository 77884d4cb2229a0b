internal import AgentTestSupport
internal import Dispatch
internal import EntraEmulator
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The thread and the time of calls of completion blocks, as in the original.
@Suite(.bounded) struct MSALCompletionTests {
    private static let alice = "alice@contoso.com"

    /// Records the calls of a block, with their errors.
    private final class Called: Sendable {
        private let errors = Mutex<[NSError?]>([])

        func record(_ error: (any Error)?) { errors.withLock { $0.append(error.map { $0 as NSError }) } }

        var count: Int { errors.withLock { $0.count } }
        var error: NSError? { errors.withLock { $0.last ?? nil } }
    }

    // Mirrors: M25 MSALPublicClientApplicationTests testCurrentAccount_whenBrokerDisabled_shouldReturnCurrentLocalAccount
    @Test func callsTheBlocksOfAccountsOnTheCallingThreadBeforeItReturns() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            let app = try f.msal()
            let names = try await offPool {
                // As an app written for the original does, which reads the value that the block has stored.
                let names = Mutex<[String?]>([])
                let thread = ObjectIdentifier(Thread.current)
                app.accountsFromDevice(for: MSALAccountEnumerationParameters()) { accounts, _ in
                    #expect(ObjectIdentifier(Thread.current) == thread)
                    names.withLock { $0.append(accounts?.first?.username) }
                }
                app.getCurrentAccount(with: nil) { account, previous, _ in
                    #expect(ObjectIdentifier(Thread.current) == thread)
                    names.withLock { $0 += [account?.username, previous?.username] }
                }
                app.getCurrentAccount(with: MSALParameters()) { account, previous, _ in
                    names.withLock { $0 += [account?.username, previous?.username] }
                }
                app.getDeviceInformation(with: nil) { information, _ in
                    #expect(ObjectIdentifier(Thread.current) == thread)
                    names.withLock { $0.append(information.map { _ in "device" }) }
                }
                return names.withLock { $0 }
            }
            #expect(names == [Self.alice, Self.alice, nil, Self.alice, Self.alice, "device"])
        }
    }

    @Test func callsTheBlocksOfAccountsAtOnceAlsoWhenTheyFail() throws {
        let (app, called) = (try MSALApplicationTests.application(), Called())
        app.accountsFromDevice(for: MSALAccountEnumerationParameters()) { called.record($1) }
        #expect(called.count == 1)
        #expect(called.error?.internalCode == -42008)
        app.getCurrentAccount(with: nil) { called.record($2) }
        #expect(called.count == 2)
        #expect(called.error?.internalCode == -42008)
    }

    @Test func callsEachBlockOnTheQueueAskedFor() async throws {
        let app = try MSALApplicationTests.application()
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "asked for")
        queue.setSpecific(key: key, value: true)
        let (places, ended) = AsyncStream.makeStream(of: Bool.self)
        let here: @Sendable () -> Void = { ended.yield(DispatchQueue.getSpecific(key: key) == true) }
        let list = MSALAccountEnumerationParameters()
        let silent = MSALApplicationTests.silent()
        let interactive = MSALInteractiveTokenParameters(scopes: ["openid"], webviewParameters: Sample.webview)
        let signout = MSALSignoutParameters(webviewParameters: Sample.webview)
        for parameters in [list, silent, interactive, signout] { parameters.completionBlockQueue = queue }
        app.accountsFromDevice(for: list) { _, _ in here() }
        app.getCurrentAccount(with: list) { _, _, _ in here() }
        app.getDeviceInformation(with: list) { _, _ in here() }
        app.acquireTokenSilent(with: silent) { _, _ in here() }
        app.acquireToken(with: interactive) { _, _ in here() }
        app.signout(with: MSALAccount(Sample.account()), signoutParameters: signout) { _, _ in here() }
        var calls: [Bool] = []
        for await place in places {
            calls.append(place)
            if calls.count == 6 { break }
        }
        #expect(calls == Array(repeating: true, count: 6))
    }

    @Test func reportsAnErrorKnownBeforehandAtOnce() throws {
        let (app, called) = (try MSALApplicationTests.application(), Called())
        let silent = MSALApplicationTests.silent()
        silent.account = nil
        app.acquireTokenSilent(with: silent) { called.record($1) }
        #expect(called.count == 1)
        #expect(called.error?.code == MSALError.interactionRequired.rawValue)
    }

    @MainActor @Test func callsTheBlocksOfSignInAndSignOutOnTheMainThread() async throws {
        try #require(MainThread.isCurrent)
        let (app, called) = (try MSALApplicationTests.application(), Called())
        // An error known beforehand is reported at once on the main thread.
        let interactive = MSALInteractiveTokenParameters(scopes: ["openid"], webviewParameters: Sample.webview)
        app.acquireToken(with: interactive) { called.record($1) }
        #expect(called.count == 1)
        #expect(called.error?.internalCode == -42000)
        // Work on the calling thread is reported before the method returns, if that is the main thread.
        let signout = MSALSignoutParameters(webviewParameters: Sample.webview)
        app.signout(with: MSALAccount(Sample.account()), signoutParameters: signout) { called.record($1) }
        #expect(called.count == 2)
        #expect(called.error?.internalCode == -42008)
        // Calls from another thread and longer work are reported later, on the main thread.
        interactive.scopes = ["User.Read"]
        let places = await withCheckedContinuation { (done: CheckedContinuation<[Bool], Never>) in
            let places = Mutex<[Bool]>([])
            let here: @Sendable () -> Void = {
                let all = places.withLock { places in
                    places.append(MainThread.isCurrent)
                    return places
                }
                if all.count == 2 { done.resume(returning: all) }
            }
            app.acquireToken(with: interactive) { _, _ in here() }
            Thread.detachNewThread {
                guard let other = try? MSALApplicationTests.application() else { return here() }
                other.signout(
                    with: MSALAccount(Sample.account()),
                    signoutParameters: MSALSignoutParameters(webviewParameters: Sample.webview)
                ) { _, _ in here() }
            }
        }
        #expect(places == [true, true])
    }

    /// As apps do that were written for the original, which calls blocks on a background queue.
    @Test func endsRequestsForWhichBlocksOfOthersWait() async throws {
        try await AgentFixture.with { f in
            // The original's objects may be used from any thread.
            nonisolated(unsafe) let app = try f.msal()
            nonisolated(unsafe) let account = try await app.signIn(Self.alice).account
            let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
            let count = 2 * ProcessInfo.processInfo.activeProcessorCount
            for _ in 0..<count {
                app.acquireTokenSilent(with: MSALSilentTokenParameters(scopes: ["User.Read"], account: account)) {
                    _, _ in
                    let done = DispatchSemaphore(value: 0)
                    let token = Mutex<String?>(nil)
                    app.acquireTokenSilent(with: MSALSilentTokenParameters(scopes: ["User.Read"], account: account)) {
                        result, _ in
                        token.withLock { $0 = result?.accessToken }
                        done.signal()
                    }
                    done.wait()
                    ended.yield(token.withLock { $0 != nil })
                }
            }
            var results: [Bool] = []
            for await end in ends {
                results.append(end)
                if results.count == count { break }
            }
            #expect(results.allSatisfy { $0 })
        }
    }

    @Test func signsOutBeforeTheMethodReturns() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            let app = try f.msal()
            let left = try await offPool {
                let account = try app.account(forUsername: Self.alice)
                // This is not the main thread, so that the block is called later; the account has been removed by then.
                app.signout(
                    with: account, signoutParameters: MSALSignoutParameters(webviewParameters: Sample.webview)
                ) { _, _ in }
                return try app.allAccounts().count
            }
            #expect(left == 0)
        }
    }
}
