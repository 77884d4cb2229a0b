/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7; not its two obsolete forms).
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Nil unless `text` is such a date.
    package static func secondsSince1970(_ text: String) -> Int64? {
        let fields = text.split(separator: " ").map(String.init)
        guard fields.count == 6, fields[0].hasSuffix(","), fields[5] == "GMT",
            let day = number(fields[1], in: 1...31),
            let month = months.firstIndex(of: fields[2]),
            let year = number(fields[3], in: 1970...9999)
        else { return nil }
        let clock = fields[4].split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard clock.count == 3, let hour = number(clock[0], in: 0...23), let minute = number(clock[1], in: 0...59),
            let second = number(clock[2], in: 0...60)
        else { return nil }
        return days(year: year, month: Int64(month) + 1, day: day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: String, in range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(text), range.contains(number)
        else { return nil }
        return number
    }

    /// Days since 1970 in the Gregorian calendar, counting years from March so that the leap day comes last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let fromMarch = (month + 9) % 12
        let year = month <= 2 ? year - 1 : year
        let leapDays = year / 4 - year / 100 + year / 400
        return year * 365 + leapDays + (fromMarch * 306 + 5) / 10 + day - 1 - 719_468
    }
}
