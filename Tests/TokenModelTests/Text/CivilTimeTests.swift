internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import TokenModel

@Suite(.bounded) struct CivilTimeTests {
    @Test(
        arguments: [
            (0, "19700101T000000"), (951_782_399, "20000228T235959"), (951_782_400, "20000229T000000"),
            (1_709_251_199, "20240229T235959"), (1_709_251_200, "20240301T000000"),
            (4_107_542_399, "21000228T235959"), (4_107_542_400, "21000301T000000"),
            (946_684_799, "19991231T235959"), (253_402_300_799, "99991231T235959"),
        ] as [(Int64, String)])
    func convertsBetweenMomentsAndDates(moment: Int64, text: String) {
        let time = CivilTime(secondsSince1970: moment)
        #expect(time.compactText == text)
        #expect(time.secondsSince1970 == moment)
    }

    @Test func showsMomentsBefore1970() {
        #expect(CivilTime(secondsSince1970: -1).compactText == "19691231T235959")
    }

    /// An agent of another user, or a broken one, can send any number as the time of an event.
    @Test(
        arguments: [
            (.min, [-292_277_022_657, 1, 27, 8, 29, 52]), (.max, [292_277_026_596, 12, 4, 15, 30, 7]),
        ] as [(Int64, [Int64])])
    func showsTheFirstAndTheLastMoment(moment: Int64, numbers: [Int64]) {
        let time = CivilTime(secondsSince1970: moment)
        #expect([time.year, time.month, time.day, time.hour, time.minute, time.second] == numbers)
    }

    @Test func countsALeapSecondAsTheFirstSecondOfTheNextMinute() {
        let time = CivilTime(year: 1999, month: 12, day: 31, hour: 23, minute: 59, second: 60)
        #expect(time?.secondsSince1970 == 946_684_800)
    }

    @Test(
        arguments: [
            [1969, 1, 1, 0, 0, 0], [10_000, 1, 1, 0, 0, 0], [2024, 0, 1, 0, 0, 0], [2024, 13, 1, 0, 0, 0],
            [2024, 1, 0, 0, 0, 0], [2024, 1, 32, 0, 0, 0], [2024, 1, 1, 24, 0, 0], [2024, 1, 1, 0, 60, 0],
            [2024, 1, 1, 0, 0, 61], [2024, 1, 1, -1, 0, 0],
        ] as [[Int64]])
    func refusesNumbersOutOfRange(n: [Int64]) {
        #expect(CivilTime(year: n[0], month: n[1], day: n[2], hour: n[3], minute: n[4], second: n[5]) == nil)
    }
}

@Suite(.bounded) struct LocalTimeZoneTests {
    @Test(arguments: [0, 3600, -5 * 3600, 20_700])
    func addsAFixedOffset(offset: Int) throws {
        let zone = LocalTimeZone(secondsFromGMT: offset)
        let time = CivilTime(secondsSince1970: 1_700_000_000 + Int64(offset))
        #expect(zone.secondsSince1970(time) == 1_700_000_000)
        #expect(zone.secondsFromGMT(at: 0) == Int64(offset))
    }

    /// Foundation knows the offsets of the system's time zone by itself.
    @Test(arguments: [0, 1_700_000_000, 1_720_000_000, 1_711_846_799, 1_711_846_800, 4_000_000_000] as [Int64])
    func agreesWithFoundationAboutTheTimeZoneOfTheSystem(moment: Int64) {
        let expected = TimeZone.current.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(moment)))
        #expect(LocalTimeZone.current.secondsFromGMT(at: moment) == Int64(expected))
    }
}
