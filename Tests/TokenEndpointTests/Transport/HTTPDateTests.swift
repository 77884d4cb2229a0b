internal import TestSupport
internal import Testing

@testable internal import TokenEndpoint

@Suite(.bounded) struct HTTPDateTests {
    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Fri, 31 Dec 1999 23:59:60 GMT", 946_684_800),
        ])
    func readsDatesOfHTTP(text: String, seconds: Int64) {
        #expect(HTTPDate.secondsSince1970(text) == seconds)
    }

    @Test(
        arguments: [
            "", "784111777", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        ])
    func refusesOtherDates(text: String) {
        #expect(HTTPDate.secondsSince1970(text) == nil)
    }
}
