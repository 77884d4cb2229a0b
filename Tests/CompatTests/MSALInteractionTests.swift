internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// A process has one interactive request at a time, and can give it up.
@Suite(.bounded) struct MSALInteractionTests {
    @Test func refusesASecondWhileOneIsUnderWayAndCancelsTheFirst() async throws {
        let interaction = CurrentInteraction()
        #expect(!interaction.cancel())
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        async let first = outcome {
            try await interaction.run { () async throws(TokenError) in
                begin.yield()
                return try await Self.waitForever()
            }
        }
        for await _ in begun { break }
        let second = await outcome {
            try await interaction.run { () async throws(TokenError) in Sample.result() }
        }
        #expect(second == .interactionInProgress)
        #expect(interaction.cancel())
        #expect(await first == .sessionCanceled)
        #expect(!interaction.cancel())
    }

    @Test func cancellingTheTaskCancelsTheSignIn() async {
        let interaction = CurrentInteraction()
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            await outcome {
                try await interaction.run { () async throws(TokenError) in
                    begin.yield()
                    return try await Self.waitForever()
                }
            }
        }
        for await _ in begun { break }
        task.cancel()
        #expect(await task.value == .sessionCanceled)
    }

    private func outcome(_ body: @Sendable () async throws -> TokenResult) async -> TokenError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? TokenError)?.code
        }
    }

    private static func waitForever() async throws(TokenError) -> TokenResult {
        let (stream, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        throw TokenError(.cancelled, "cancelled")
    }
}
