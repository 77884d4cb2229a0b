internal import TokenCache
internal import TokenModel

/// The times in ADAL's JSON: Python writes local times without a zone, Node ISO 8601, and some times are numbers.
enum ADALTime {
    /// The time in seconds since 1970; nil if the value is not a time.
    static func seconds(_ value: JSONTree?, timeZone: LocalTimeZone) -> Int64? {
        guard let value else { return nil }
        if let number = value.integer {
            // Node's `createdOn` may be in milliseconds, as JavaScript counts.
            let seconds = number > 100_000_000_000 ? number / 1000 : number
            return RecordTime.possible ~= seconds ? seconds : nil
        }
        return value.string.flatMap { seconds($0, timeZone: timeZone) }
    }

    /// `2026-11-21 03:38:21.774771`, `2026-11-21T02:38:21.774Z`, `2026-11-21T03:38:21+01:00`; fractions are dropped.
    private static func seconds(_ text: String, timeZone: LocalTimeZone) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, bytes.count <= 40, bytes[4] == dash, bytes[7] == dash, bytes[13] == colon,
            bytes[16] == colon, bytes[10] == UInt8(ascii: " ") || bytes[10] == UInt8(ascii: "T"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
            let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        let plain = time.secondsSince1970
        let zone = bytes[19...].drop { $0 == UInt8(ascii: ".") || 0x30...0x39 ~= $0 }
        switch zone.first {
        case nil: return timeZone.secondsSince1970(time)
        case UInt8(ascii: "Z"): return zone.count == 1 ? plain : nil
        case UInt8(ascii: "+"), dash:
            let digits = zone.dropFirst().filter { $0 != colon }
            guard digits.count == 4, let hours = number(digits.prefix(2)), let minutes = number(digits.suffix(2)) else {
                return nil
            }
            let offset = hours * 3600 + minutes * 60
            return zone.first == dash ? plain + offset : plain - offset
        default: return nil
        }
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static let dash = UInt8(ascii: "-")
    private static let colon = UInt8(ascii: ":")
    /// The maximum lifetime of a token that is accepted, in seconds: 100 years.
    static let longest: Int64 = 100 * 366 * 86_400
}
