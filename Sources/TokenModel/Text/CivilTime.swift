#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A date of the Gregorian calendar and a time of day, without a time zone.
package struct CivilTime: Sendable, Equatable {
    package var year: Int64
    /// 1 to 12.
    package var month: Int64
    /// 1 to 31.
    package var day: Int64
    /// 0 to 23.
    package var hour: Int64
    /// 0 to 59.
    package var minute: Int64
    /// 0 to 60: 60 is a leap second, which counts as the first second of the next minute.
    package var second: Int64

    /// Returns nil if a number is out of its range, or the year before 1970 or after 9999.
    package init?(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        guard 1970...9999 ~= year, 1...12 ~= month, 1...31 ~= day, 0...23 ~= hour, 0...59 ~= minute, 0...60 ~= second
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// The time that a clock in UTC shows.
    ///
    /// - Parameter moment: seconds since 1970.
    package init(secondsSince1970 moment: Int64) {
        var (days, seconds) = moment.quotientAndRemainder(dividingBy: 86_400)
        if seconds < 0 { (days, seconds) = (days - 1, seconds + 86_400) }
        (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        // Years are counted from March, so that the leap day is the last of its year; 146,097 days are 400 years.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The moment at which a clock in UTC shows this time, in seconds since 1970. The 31st of a month that has 30 days counts
    /// as the 1st of the next.
    package var secondsSince1970: Int64 {
        // As above: years are counted from March.
        let monthFromMarch = (month + 9) % 12
        let marchYear = month <= 2 ? year - 1 : year
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        let days = marchYear * 365 + leapDays + (monthFromMarch * 306 + 5) / 10 + day - 1 - 719_468
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// The time in the basic format of ISO 8601, such as `20261121T033821`.
    package var compactText: String {
        [
            Self.digits(year, 4), Self.digits(month), Self.digits(day), "T", Self.digits(hour), Self.digits(minute),
            Self.digits(second),
        ]
        .joined()
    }

    private static func digits(_ number: Int64, _ count: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
    }
}

/// The offset of local time from UTC: that of the system, which may change in the course of a year, or a fixed one.
///
/// Foundation's `TimeZone` needs ICU for the system's time zone, and ICU's tables are larger than the agent.
package struct LocalTimeZone: Sendable, Equatable {
    private let fixedOffset: Int64?

    /// The time zone of `TZ` or, without it, of the system.
    package static let current = LocalTimeZone(fixedOffset: nil)

    package init(secondsFromGMT: Int) { self.init(fixedOffset: Int64(secondsFromGMT)) }

    private init(fixedOffset: Int64?) { self.fixedOffset = fixedOffset }

    /// The number of seconds by which local time is ahead of UTC.
    ///
    /// - Parameter moment: seconds since 1970.
    package func secondsFromGMT(at moment: Int64) -> Int64 {
        if let fixedOffset { return fixedOffset }
        var (moment, parts) = (time_t(moment), tm())
        return localtime_r(&moment, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
    }

    /// The moment at which a clock of this time zone shows `time`, in seconds since 1970. Of the two moments at the end of
    /// summer time, one of them.
    package func secondsSince1970(_ time: CivilTime) -> Int64 {
        let utc = time.secondsSince1970
        // Twice: the first offset may be that of the other side of a change to or from summer time.
        return utc - secondsFromGMT(at: utc - secondsFromGMT(at: utc))
    }
}
