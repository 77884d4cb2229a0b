internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// Measurements as scrapers read them, and their documentation.
@Suite(.bounded) struct MetricsTextTests {
    private static func metric(_ name: MetricName, _ labels: [String: String] = [:], _ value: Int64) -> AgentMetric {
        AgentMetric(name.rawValue, name.kind, labels: labels, value: value)
    }

    @Test func putsTheSeriesOfANameTogetherAfterItsTypeAndHelp() {
        let text = MetricsText.encode([
            Self.metric(.requests, ["request": "hello", "outcome": "ok"], 2), Self.metric(.accounts, [:], 7),
            Self.metric(.requests, ["request": "acquire_token_silent", "outcome": "hit"], 3),
        ])
        #expect(
            text == """
                # HELP sso_agent_requests_total Requests that were answered.
                # TYPE sso_agent_requests_total counter
                sso_agent_requests_total{outcome="hit",request="acquire_token_silent"} 3
                sso_agent_requests_total{outcome="ok",request="hello"} 2
                # HELP sso_agent_accounts Accounts in all sharing groups.
                # TYPE sso_agent_accounts gauge
                sso_agent_accounts 7

                """)
    }

    @Test func addsUpTheBucketsOfAHistogram() throws {
        let histogram = DurationHistogram()
        for microseconds: Int64 in [-5, 100, 101, 2_000, 31_000_000] { histogram.add(microseconds: microseconds) }
        histogram.add(.milliseconds(2))
        let metric = try #require(histogram.metric(.storeCommitTime))
        let lines = MetricsText.encode([metric]).split(separator: "\n").map(String.init)
        #expect(lines.contains("# TYPE sso_agent_store_commit_seconds histogram"))
        let name = "sso_agent_store_commit_seconds"
        for line in [
            "\(name)_bucket{le=\"0.0001\"} 2", "\(name)_bucket{le=\"0.00025\"} 3", "\(name)_bucket{le=\"0.001\"} 3",
            "\(name)_bucket{le=\"0.0025\"} 5", "\(name)_bucket{le=\"30\"} 5", "\(name)_bucket{le=\"+Inf\"} 6",
            "\(name)_sum 31.004201", "\(name)_count 6",
        ] { #expect(lines.contains(line), "\(line) is missing in \(lines)") }
    }

    @Test func hasNoHistogramWithoutADuration() {
        #expect(DurationHistogram().metric(.loopDelay) == nil)
    }

    @Test func escapesLabels() {
        let text = MetricsText.encode([Self.metric(.info, ["version": "a\"b\\c\nd"], 1)])
        #expect(text.contains("sso_agent_info{version=\"a\\\"b\\\\c\\nd\"} 1\n"))
        // Characters that form one with what has to be escaped.
        let joined = MetricsText.encode([Self.metric(.info, ["version": "\"\u{301}\u{D4E}\"\r\n"], 1)])
        #expect(joined.contains("{version=\"\\\"\u{301}\u{D4E}\\\"\r\\n\"} 1\n"), "\(joined)")
    }

    @Test(arguments: [(0, "0"), (1, "0.000001"), (250, "0.00025"), (1_000_000, "1"), (2_500_000, "2.5")])
    func writesSecondsWithoutRounding(microseconds: Int64, text: String) {
        #expect(MetricsText.seconds(microseconds) == text)
    }

    /// Every name that a request can get is a label that exists: nothing of a peer's.
    @Test func countsUnknownRequestsUnderOneName() {
        let metrics = AgentMetrics()
        for number in 0..<5_000 {
            metrics.replied(to: 0, Result<Void, TokenError>.failure(TokenError(.malformedMessage, "\(number)")))
        }
        let series = metrics.snapshot.filter { $0.name == MetricName.requests.rawValue }
        #expect(series.count == 1)
        #expect(series.first?.labels == ["request": "unknown", "outcome": "malformedMessage"])
        #expect(series.first?.value == 5_000)
    }

    @Test func addsRepeatedHitsToTheOthers() {
        let metrics = AgentMetrics()
        for isFromCache in [true, false] {
            let token = TokenResult(
                accessToken: Secret("t"), tokenType: "Bearer", expiresOn: 0, scopes: [], idToken: nil,
                account: Account(
                    homeAccountID: nil, username: "alice", environment: "login.windows.net", source: .msal),
                tenantProfile: nil, authority: "", correlationID: CorrelationID(), isFromCache: isFromCache)
            metrics.replied(to: AcquireTokenSilent.number, Result<TokenResult, TokenError>.success(token))
        }
        for _ in 0..<3 { metrics.countRepeatedHit() }
        let series = metrics.snapshot.filter { $0.name == MetricName.requests.rawValue }
        #expect(series.first { $0.labels["outcome"] == "hit" }?.value == 4)
        #expect(series.first { $0.labels["outcome"] == "renewed" }?.value == 1)
    }

    /// A user takes minutes to enter a code, for which the agent asks every few seconds: these are neither failures nor answers.
    @Test func countsTheRequestsForACodeThatIsNotEnteredYetApart() {
        let metrics = AgentMetrics()
        for name in ["authorization_pending", "slow_down", "expired_token"] {
            var error = TokenError(.serverOAuth, "not yet")
            error.details.oauthError = name
            metrics.redeemed(.deviceCode, error, in: .milliseconds(5))
        }
        let counts = metrics.snapshot.filter { $0.name == MetricName.tokenRequests.rawValue }
        #expect(counts.first { $0.labels["outcome"] == "pending" }?.value == 2)
        #expect(counts.first { $0.labels["outcome"] == "serverOAuth" }?.value == 1)
        #expect(counts.allSatisfy { $0.labels["grant"] == "device_code" })
        let times = metrics.snapshot.filter { $0.name == MetricName.tokenRequestTime.rawValue }
        #expect(times.map(\.value) == [1])
    }

    @Test func countsTheSilentRequestsThatAreThrottled() {
        let metrics = AgentMetrics()
        var error = TokenError(.serverError, "busy")
        for isThrottled in [false, true, true] {
            error.details.isThrottled = isThrottled
            metrics.replied(to: AcquireTokenSilent.number, Result<TokenResult, TokenError>.failure(error))
        }
        let series = metrics.snapshot.filter { $0.name == MetricName.throttled.rawValue }
        #expect(series.map(\.value) == [2])
    }

    /// docs/metrics.md explains each measurement, with its kind, and no other.
    @Test func isDocumented() throws {
        let document = try String(contentsOfFile: PackageFolder.path("docs/metrics.md"), encoding: .utf8)
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| `sso_agent_") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows.map { $0[0] } == MetricName.allCases.map { "`\($0.rawValue)`" })
        #expect(rows.map { $0[1] } == MetricName.allCases.map { "\($0.kind)" })
    }
}
