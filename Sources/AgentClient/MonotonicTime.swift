#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A moment on a clock that only goes forward, in nanoseconds.
struct MonotonicTime: Sendable, Comparable {
    var nanoseconds: UInt64

    static let distantFuture = MonotonicTime(nanoseconds: .max)

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        let sum = Double(nanoseconds) + Double(seconds) * 1e9 + Double(attoseconds) * 1e-9
        return sum < Double(UInt64.max) ? MonotonicTime(nanoseconds: UInt64(max(sum, 0))) : .distantFuture
    }

    /// What `poll` is told: milliseconds from `now`, rounded up; -1 waits for ever.
    func pollTimeout(from now: MonotonicTime) -> Int32 {
        guard self != .distantFuture else { return -1 }
        guard self > now else { return 0 }
        return Int32(min((nanoseconds - now.nanoseconds) / 1_000_000 + 1, UInt64(Int32.max)))
    }
}
