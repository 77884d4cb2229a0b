internal import TokenModel

/// Numbers, durations and times as people write them.
enum Phrases {
    /// `1 account`, `2 accounts`.
    static func count(_ number: some BinaryInteger, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// A duration in its largest unit, and the next one below ten: `45 seconds`, `3 hours 20 minutes`, `12 days`.
    static func duration(_ seconds: Int64) -> String {
        let units: [(size: Int64, noun: String)] = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
        let seconds = max(seconds, 0)
        guard let index = units.firstIndex(where: { seconds >= $0.size }) else { return count(0, "second") }
        let (unit, number) = (units[index], seconds / units[index].size)
        let text = count(number, unit.noun)
        guard number < 10, index + 1 < units.count else { return text }
        let next = units[index + 1]
        let rest = seconds % unit.size / next.size
        return rest == 0 ? text : "\(text) \(count(rest, next.noun))"
    }

    /// Minutes and seconds, as a countdown shows them: `9:05`.
    static func countdown(_ seconds: Int64) -> String {
        let seconds = max(seconds, 0)
        return "\(seconds / 60):\(digits(seconds % 60))"
    }

    /// A moment in local time: `14:32` on the day of `now`, else `2026-11-23 14:32`.
    static func moment(_ seconds: Int64, now: Int64, zone: LocalTimeZone = .current) -> String {
        let time = CivilTime(secondsSince1970: seconds + zone.secondsFromGMT(at: seconds))
        let today = CivilTime(secondsSince1970: now + zone.secondsFromGMT(at: now))
        let clock = "\(digits(time.hour)):\(digits(time.minute))"
        let isToday = (time.year, time.month, time.day) == (today.year, today.month, today.day)
        return isToday ? clock : "\(time.year)-\(digits(time.month))-\(digits(time.day)) \(clock)"
    }

    /// A time of the day in local time, with seconds: `14:32:07`.
    static func clock(_ seconds: Int64, zone: LocalTimeZone = .current) -> String {
        let time = CivilTime(secondsSince1970: seconds + zone.secondsFromGMT(at: seconds))
        return "\(digits(time.hour)):\(digits(time.minute)):\(digits(time.second))"
    }

    private static func digits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
