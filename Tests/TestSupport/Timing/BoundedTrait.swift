package import Testing

/// The trait of every suite: only a few tests run at a time, and each has a time limit.
///
/// Swift Testing starts every test at once. A thousand tests on two processors then each take minutes, and every time-out of
/// the product fires, though nothing is wrong.
package struct BoundedTrait: SuiteTrait, TestTrait, TestScoping {
    /// Whether the test is among the first to run, because it takes longer than most.
    let startsEarly: Bool
    /// How long a test may take once it runs, in minutes. The limit ends tests that hang; it is no measure of speed.
    let minutes: Int

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A test that has this trait itself, and from its suite, takes one place.
        guard !Self.hasPlace else { return try await function() }
        await TestQueue.shared.enter(early: startsEarly)
        defer { TestQueue.shared.leave() }
        let watch = HangWatch.shared.begin("\(test.id)", minutes: minutes)
        defer { HangWatch.shared.end(watch) }
        try await withTaskExecutorPreference(BlockingExecutor.shared) {
            try await Self.$hasPlace.withValue(true) { try await function() }
        }
    }

    @TaskLocal private static var hasPlace = false
}

extension Trait where Self == BoundedTrait {
    /// Runs beside a few other tests, for ten minutes at most.
    package static var bounded: Self { BoundedTrait(startsEarly: false, minutes: 10) }

    /// The same for a long test, for an hour at most: it starts before the others, so that it does not end long after them.
    package static var boundedLong: Self { BoundedTrait(startsEarly: true, minutes: 60) }
}
