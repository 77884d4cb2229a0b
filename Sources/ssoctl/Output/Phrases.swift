internal import TokenModel

extension [String] {
    /// The lines as one text, each without control characters: a text of the agent, which can be another user's, has no further line, which
    /// could look like one with a command that helps.
    var joinedLines: String { map { UntrustedText.clean($0, limit: .max) }.joined(separator: "\n") }
}

/// Times as people write them.
extension Phrases {
    /// Minutes and seconds, as a countdown shows them: `9:05`.
    static func countdown(_ seconds: Int64) -> String {
        let seconds = max(seconds, 0)
        return "\(seconds / 60):\(digits(seconds % 60))"
    }

    /// A moment in local time: `14:32` on the day of `now`, else `2026-11-23 14:32`.
    static func moment(_ seconds: Int64, now: Int64) -> String {
        let zone = LocalTimeZone.current
        let time = CivilTime(secondsSince1970: seconds + zone.secondsFromGMT(at: seconds))
        let today = CivilTime(secondsSince1970: now + zone.secondsFromGMT(at: now))
        let clock = "\(digits(time.hour)):\(digits(time.minute))"
        let isToday = (time.year, time.month, time.day) == (today.year, today.month, today.day)
        return isToday ? clock : "\(time.year)-\(digits(time.month))-\(digits(time.day)) \(clock)"
    }

    /// A time of the day in local time, with seconds: `14:32:07`.
    static func clock(_ seconds: Int64) -> String {
        let time = CivilTime(secondsSince1970: seconds + LocalTimeZone.current.secondsFromGMT(at: seconds))
        return "\(digits(time.hour)):\(digits(time.minute)):\(digits(time.second))"
    }

    private static func digits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
