internal import PosixFiles
internal import TestSupport
internal import Testing

@Suite(.bounded) struct PauseTests {
    @Test func endsWhenTheTimeIsOver() async {
        let begin = ContinuousClock.now
        await Pause.wait(for: .milliseconds(30))
        #expect(ContinuousClock.now - begin >= .milliseconds(30))
    }

    @Test func endsWhenTheTaskIsCancelled() async {
        let task = Task { await Pause.wait(for: .seconds(3600)) }
        task.cancel()
        await task.value
    }

    @Test func endsAtOnceInACancelledTask() async {
        let (events, end) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in events {}
            await Pause.wait(for: .seconds(3600))
        }
        task.cancel()
        end.finish()
        await task.value
    }
}
