internal import Dispatch
internal import TestSupport
internal import Testing

@testable internal import PosixFiles

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

@Suite(.bounded) struct CallingThreadTests {
    /// Each test has a thread of its own, so that the threads of the pool are others.
    @Test func runsEveryStepOnTheThreadThatCalls() {
        let caller = Self.thread
        let threads = CallingThread.run {
            var threads = [Self.thread]
            await Task.yield()
            threads.append(Self.thread)
            // Resumed by another thread.
            await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
            threads.append(Self.thread)
            threads.append(
                await withTaskGroup { group in
                    group.addTask { Self.thread }
                    return await group.next() ?? ""
                })
            return threads
        }
        #expect(threads == [caller, caller, caller, caller])
    }

    @Test func returnsWhileTasksOfThePoolStillRun() {
        let isReached = CallingThread.run {
            Task.detached { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
            return true
        }
        #expect(isReached)
    }

    private static var thread: String { String(describing: pthread_self()) }
}
