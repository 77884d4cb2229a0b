internal import TokenModel

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7; not its two obsolete forms).
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Nil unless `text` is such a date.
    package static func secondsSince1970(_ text: String) -> Int64? {
        let fields = text.split(separator: " ").map(String.init)
        guard fields.count == 6, fields[0].hasSuffix(","), fields[5] == "GMT",
            let day = number(fields[1]),
            let month = months.firstIndex(of: fields[2]),
            let year = number(fields[3])
        else { return nil }
        let clock = fields[4].split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard clock.count == 3, let hour = number(clock[0]), let minute = number(clock[1]),
            let second = number(clock[2])
        else { return nil }
        return CivilTime(
            year: year, month: Int64(month) + 1, day: day, hour: hour, minute: minute, second: second)?
            .secondsSince1970
    }

    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
    }
}
