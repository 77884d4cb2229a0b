// The compiler takes the first C module that it has read for that of `pthread_attr_t`, which is this one in some orders of the files.
internal import CAgentSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Starts detached threads for work that blocks, which must not run in Swift's cooperative pool.
enum BackgroundThread {
    /// Runs `body` on a new thread with a stack of 512 KiB and with every signal blocked, so that the app's signal
    /// handlers run on the app's threads only. Thread-local variables, of which some apps have megabytes, have memory besides.
    ///
    /// - Returns: false if no thread can be created; `body` is not run then.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 512 * 1024 + agent_thread_local_size())
        defer { pthread_attr_destroy(&attributes) }
        let box = Unmanaged.passRetained(Box(body))
        #if os(Linux)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        var everything = sigset_t()
        var before = sigset_t()
        sigfillset(&everything)
        pthread_sigmask(SIG_SETMASK, &everything, &before)
        let code = pthread_create(&thread, &attributes, { Box.run($0) }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        if code != 0 { box.release() }
        return code == 0
    }

    private final class Box {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            if let pointer { Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body() }
            return nil
        }
    }
}
