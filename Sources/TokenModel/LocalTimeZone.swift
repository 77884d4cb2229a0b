#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The offset of local time from UTC: the system's, which changes with the seasons, or a fixed one.
///
/// Foundation's `TimeZone` knows the system's only with ICU, whose tables are larger than the agent.
package struct LocalTimeZone: Sendable, Equatable {
    private let fixedOffset: Int64?

    /// The time zone of `TZ` or, without it, of the system.
    package static let current = LocalTimeZone(fixedOffset: nil)
    package static let gmt = LocalTimeZone(secondsFromGMT: 0)

    package init(secondsFromGMT: Int) { self.init(fixedOffset: Int64(secondsFromGMT)) }

    private init(fixedOffset: Int64?) { self.fixedOffset = fixedOffset }

    /// How many seconds local time is ahead of UTC.
    ///
    /// - Parameter moment: seconds since 1970.
    package func secondsFromGMT(at moment: Int64) -> Int64 {
        fixedOffset ?? Int64(Self.components(at: moment)?.tm_gmtoff ?? 0)
    }

    /// The time on a clock of the system's time zone: `2026-11-21 03:38:21`.
    ///
    /// - Parameter moment: seconds since 1970.
    package static func text(at moment: Int64) -> String {
        guard var parts = components(at: moment) else { return "\(moment)" }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func components(at moment: Int64) -> tm? {
        var (moment, parts) = (time_t(moment), tm())
        return localtime_r(&moment, &parts) == nil ? nil : parts
    }
}
