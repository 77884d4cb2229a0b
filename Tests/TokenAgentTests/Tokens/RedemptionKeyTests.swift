internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenCache

/// The requests that share a redemption, and its error.
@Suite(.bounded) struct RedemptionKeyTests {
    private struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (inout RedemptionPlan, inout TokenParameters) throws -> Void
    }

    private static let changes = [
        Change(testDescription: "refresh token") { plan, _ in plan.candidates[0].secret = Secret("rt-3") },
        Change(testDescription: "next refresh token") { plan, _ in plan.candidates[1].secret = Secret("rt-3") },
        Change(testDescription: "one refresh token") { plan, _ in plan.candidates.removeLast() },
        Change(testDescription: "authority") { plan, _ in plan.authority = .common.withRealm("organizations") },
        Change(testDescription: "client ID") { $1.clientID = try .sample(1) },
        Change(testDescription: "scopes") { $1.scopes = ScopeSet(["Mail.Read"]) },
        Change(testDescription: "spelling of the client ID") {
            $1.clientID = ClientID($1.clientID.text.uppercased()) ?? $1.clientID
        },
        Change(testDescription: "spelling of a scope") {
            $1.scopes = ScopeSet($1.scopes.scopes.map { $0.uppercased() })
        },
        Change(testDescription: "sharing group") { $1.sharingGroup = try #require(SharingGroup("other")) },
        Change(testDescription: "version") { $1.version = .v1 },
        Change(testDescription: "redirect URI") { $1.redirectURI = "http://localhost/other" },
        Change(testDescription: "validation") { $1.validatesAuthority = false },
        Change(testDescription: "claims") { $1.claims = "{}" },
        Change(testDescription: "capabilities") { $1.capabilities = ["cp1"] },
        Change(testDescription: "extra parameters") { $1.extraParameters = ["slice": "test"] },
    ]

    /// The token endpoint may respond to them in different ways.
    @Test(arguments: changes)
    private func differsWithEachPartOfARequest(change: Change) throws {
        let (plan, parameters) = (try Self.plan(), TokenParameters.sample())
        let key = try #require(RedemptionKey(plan, parameters))
        var (otherPlan, otherParameters) = (plan, parameters)
        try change.make(&otherPlan, &otherParameters)
        let other = try #require(RedemptionKey(otherPlan, otherParameters))
        #expect(other != key)
    }

    @Test func isTheSameForACallAgain() throws {
        var again = TokenParameters.sample()
        again.correlationID = CorrelationID()
        let key = try #require(RedemptionKey(Self.plan(), .sample()))
        #expect(try RedemptionKey(Self.plan(), again) == key)
    }

    @Test func isTheSameForScopesInAnotherOrder() throws {
        var (parameters, again) = (TokenParameters.sample(), TokenParameters.sample())
        parameters.scopes = ScopeSet(["User.Read", "Mail.Read"])
        again.scopes = ScopeSet(["Mail.Read", "User.Read"])
        let key = try #require(RedemptionKey(Self.plan(), parameters))
        #expect(try RedemptionKey(Self.plan(), again) == key)
    }

    private static func plan() throws -> RedemptionPlan {
        let account = AccountKey(issuer: .microsoft, homeAccountID: .sample("alice"), username: nil)
        let tokens = ["rt-1", "rt-2"].map { secret in
            RefreshTokenRecord(
                account: account, environment: "login.windows.net", clientID: .sample, familyID: nil,
                secret: Secret(secret))
        }
        return RedemptionPlan(account: account, authority: .common, candidates: tokens)
    }
}
