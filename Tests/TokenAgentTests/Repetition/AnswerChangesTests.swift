internal import AgentSocket
internal import CAgentSystem
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

#if os(Linux)
    /// The generations that change with what the agent's parts do, before they tell anybody.
    @Suite(.bounded) struct AnswerChangesTests {
        private let parts = Parts()

        /// What an app sees of the page of the parts.
        ///
        /// Unchecked because of the pointers: the memory is only read, and mapped as long as the object lives.
        private final class View: @unchecked Sendable {
            private let view: agent_page_view

            init(_ parts: Parts) async throws {
                let descriptor = try await parts.sharePage()
                var view = agent_page_view()
                try #require(agent_view_generation_page(descriptor, &view) == 0)
                self.view = view
            }

            deinit { withUnsafePointer(to: view) { agent_end_page_view($0) } }

            private func number(_ slot: UInt32) -> UInt64 { agent_generation(view.page, slot) }

            /// The generations of every answer, of the sharing group, and of two accounts.
            var generations: [UInt64] {
                [
                    number(GenerationSlot.ofEverything), number(GenerationSlot.of(nil, in: .standard)),
                    number(GenerationSlot.of(.sample("alice"), in: .standard)),
                    number(GenerationSlot.of(.sample("bob"), in: .standard)),
                ]
            }
        }

        @Test func endsAnswersWithEachSaveOfTheAccount() async throws {
            let view = try await View(parts)
            let before = view.generations
            try await parts.signIn("alice", "1").value()
            let after = view.generations
            #expect(zip(before, after).map { $0 < $1 } == [false, true, true, false])
        }

        /// Before the disk, so that nobody has been told.
        @Test func endsAnswersWithASignOutBeforeItIsDurable() async throws {
            let view = try await View(parts)
            try await parts.signIn("alice", "1").value()
            let before = view.generations
            let removal = await parts.signOut("alice")
            #expect(zip(before, view.generations).map { $0 < $1 } == [false, true, true, false])
            try await removal.value()
        }

        @Test func endsEveryAnswerWhenAllAccountsOfAGroupAreRemoved() async throws {
            let view = try await View(parts)
            try await parts.signIn("alice", "1").value()
            let before = view.generations
            let removal = await parts.signOut("alice", extent: .everything)
            #expect(view.generations[0] > before[0])
            try await removal.value()
        }

        @Test func endsEveryAnswerWhenTheCacheIsReplaced() async throws {
            let view = try await View(parts)
            let before = view.generations
            await parts.replaceCache()
            #expect(view.generations[0] > before[0])
        }

        @Test func endsEveryAnswerWhenTheStoreIsLocked() async throws {
            let view = try await View(parts)
            let before = view.generations
            _ = try await parts.start { parts async throws(TokenError) in try await parts.lifecycle.lock {} }.value()
            #expect(view.generations[0] > before[0])
        }

        /// Requests are refused from then on, although the cache is emptied later: what apps keep must not go on for as long.
        @Test func endsEveryAnswerBeforeALockHasWaitedForResponses() async throws {
            let view = try await View(parts)
            try await parts.loadStore().value()
            let (request, redemption) = try await parts.beginRedemption()
            let before = view.generations
            let lock = await parts.lock()
            try await parts.settle()
            #expect(!lock.isDone)
            #expect(view.generations[0] > before[0])
            redemption.fail(.invalidGrant)
            _ = try await request.error()
            try await lock.value()
        }

        @Test func endsEveryAnswerWhenCloudsAreLearntOrAHostIsRefused() async throws {
            let view = try await View(parts)
            var before = view.generations
            var resolving = try await parts.resolving("https://login.example.com/common")
            await parts.provider.discoveries.next().answer([
                CloudDirectory.Cloud(
                    aliases: ["login.example.com"], preferredNetwork: "login.example.com",
                    preferredCache: "login.example.com")
            ])
            try await resolving.value()
            #expect(view.generations[0] > before[0])
            before = view.generations
            resolving = try await parts.resolving("https://login.example.org/common")
            await parts.provider.discoveries.next().fail(TokenError(.authorityValidation, "no such authority"))
            _ = try await resolving.error()
            #expect(view.generations[0] > before[0])
        }
    }

    extension Parts {
        /// Shares a page, and returns a descriptor of it.
        fileprivate func sharePage() throws -> Int32 {
            let page = try #require(GenerationPage())
            core.answers.share(page)
            return dup(page.descriptor)
        }
    }
#endif
