internal import TestSupport
internal import Testing

@testable internal import AuditLog

/// The fields of a line, as those who search the log rely on them.
@Suite(.bounded) struct AuditLineTests {
    private func line(account: String? = nil, scopes: [String] = []) throws -> AuditLine {
        var chain = AuditChain()
        let event = AuditEvent(.token, time: 1_900_000_000, account: account, scopes: scopes)
        return try #require(AuditLine(chain.append(event)))
    }

    /// Identity providers write an ID with capitals or without, and the lines of one account are found by one value.
    @Test func givesAnAccountOneValueWhateverItsCapitals() throws {
        let value = try #require(try line(account: "Oid.Tid")["account"])
        #expect(try line(account: "oid.tid")["account"] == value)
        #expect(try line(account: "oid.tid2")["account"] != value)
    }

    @Test func hasTheNumberOfEventsThatAreSeveral() throws {
        var chain = AuditChain()
        for (count, shown) in [(nil, nil), (1, nil), (2, "2")] as [(Int?, String?)] {
            let line = chain.append(AuditEvent(.omitted, time: 1_900_000_000, count: count))
            #expect(AuditLine(line)?["count"] == shown)
        }
    }

    /// The first line has the number 1, and no log has so many lines that counting on could overflow.
    @Test(arguments: [(1, true), (1 << 53, true), (0, false), (-1, false), ((1 << 53) + 1, false)] as [(Int64, Bool)])
    func isNoLineWithAnImpossibleNumber(number: Int64, isLine: Bool) {
        let line = AuditLine(Array(#"{"seq":\#(number),"prev":"0"}"#.utf8))
        #expect((line != nil) == isLine)
    }

    /// A line with no scopes is not one for every scope.
    @Test func hasNoScopesWithoutAny() throws {
        #expect(try line().scopes.isEmpty)
        #expect(try line()["account"] == nil)
    }

    @Test func saysHowManyScopesItDoesNotShow() throws {
        let scopes = (1...17).map { "Scope.\($0)" }
        let (all, most) = (try line(scopes: Array(scopes.prefix(16))), try line(scopes: scopes))
        #expect(all.scopes == Array(scopes.prefix(16)))
        #expect(most.scopes == Array(scopes.prefix(16)) + ["… 1 more"])
    }
}
