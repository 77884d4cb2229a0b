internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// The pages that end the sessions of a browser. The reply to a sign-out waits for them, and must not depend on them.
@Suite(.bounded) struct SignOutPagesTests {
    private let parts = Parts()
    private static let name = "alice@contoso.com"

    @Test func findsThePageOfEachProvider() async throws {
        try await parts.signInAtTwoProviders()
        let pages = await parts.findSignOutPages(named: Self.name)
        for _ in 0..<2 {
            let call = await parts.provider.signOutPages.next()
            call.answer("\(call.question)/logout")
        }
        let found = try await pages.value()
        #expect(Set(found) == ["https://id.example/main/logout", "https://login.microsoftonline.com/tenant/logout"])
        #expect(parts.timers.count == 0)
    }

    @Test func leavesOutAProviderThatDoesNotAnswerWithinFiveSeconds() async throws {
        try await parts.signInAtTwoProviders()
        let pages = await parts.findSignOutPages(named: Self.name)
        let (first, second) = (await parts.provider.signOutPages.next(), await parts.provider.signOutPages.next())
        first.answer("https://id.example/logout")
        try await parts.settle()
        try await parts.timers.advance(by: 4)
        try await parts.settle()
        #expect(!pages.isDone)
        try await parts.timers.advance(by: 1)
        #expect(try await pages.value() == ["https://id.example/logout"])
        second.fail(TokenError(.networkUnavailable, "too late"))
        try await parts.waitUntilIdle()
    }

    @Test func leavesOutAProviderThatHasNoPageOrCannotBeReached() async throws {
        try await parts.signInAtTwoProviders()
        let pages = await parts.findSignOutPages(named: Self.name)
        await parts.provider.signOutPages.next().answer(nil)
        await parts.provider.signOutPages.next().fail(TokenError(.networkUnavailable, "no network"))
        #expect(try await pages.value() == [])
    }

    @Test func asksNobodyAboutAnUnknownAccount() async throws {
        #expect(try await parts.findSignOutPages(named: Self.name).value() == [])
        #expect(parts.provider.signOutPages.count == 0)
    }

    /// A provider that never answers would use up the connections.
    @Test func asksEightProvidersAtATime() async throws {
        try await parts.signInAtTwoProviders()
        var waiting: [Pending<[String]>] = []
        for _ in 0..<5 { waiting.append(await parts.findSignOutPages(named: Self.name)) }
        try await parts.settle()
        #expect(parts.provider.signOutPages.count == 8)
        #expect(try await waiting[4].value() == [], "nobody is asked")
        for _ in 0..<8 { await parts.provider.signOutPages.next().answer("https://id.example/logout") }
        #expect(try await waiting[0].value().count == 2)
        try await parts.waitUntilIdle()
        _ = await parts.findSignOutPages(named: Self.name)
        for _ in 0..<2 { await parts.provider.signOutPages.next().answer(nil) }
        try await parts.waitUntilIdle()
    }
}

extension Parts {
    /// Signs alice in at Microsoft's public cloud, and a user of the same name at an OpenID provider.
    fileprivate nonisolated func signInAtTwoProviders() async throws {
        try await signIn("alice", "1").value()
        let provider = try Authority("https://id.example/main", kind: .openID)
        try await signIn("alice", "2", .sample(authority: provider)).value()
    }
}
