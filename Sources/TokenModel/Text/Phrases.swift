/// Numbers and durations as people write them.
package enum Phrases {
    /// `1 account`, `2 accounts`.
    package static func count(_ number: some BinaryInteger, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// A duration in its largest unit; if there are fewer than ten of that, also in the next smaller one: `45 seconds`, `3 hours 20 minutes`,
    /// `12 days`.
    package static func duration(_ seconds: Int64) -> String {
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

    /// Microseconds as a decimal number of milliseconds, without rounding: `2.5 ms`.
    package static func milliseconds(_ microseconds: Int64) -> String {
        let (whole, rest) = max(microseconds, 0).quotientAndRemainder(dividingBy: 1000)
        var digits = "\(1000 + rest)".dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(whole)\(digits.isEmpty ? "" : ".\(digits)") ms"
    }
}
