internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import CompatSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// Silent requests of MSAL and ADAL that are repeated: the SDK keeps their results, and the libraries what they make of them.
@Suite(.bounded) struct KeptResultAppsTests {
    private static let alice = "alice@contoso.com"
    private static let graph = "https://graph.microsoft.com"

    private func client(_ f: AgentFixture) -> AgentClient {
        AgentClient(socketPath: f.socketPath) { [clock = f.clock] in clock.now }
    }

    @Test func keepsTheResultOfMSALUntilTheAccountSignsOut() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn(Self.alice, f.parameters())
            let (client, app) = (client(f), try f.msal())
            app.session?.client = client
            let account = MSALAccount(signedIn.account)
            var results: [MSALResult] = []
            for _ in 0..<3 { results.append(try await app.silent(account)) }
            #expect(Set(results.map(\.accessToken)) == [signedIn.accessToken.reveal()])
            #expect(Set(results.map(\.correlationId)).count == 3)
            #expect(results[2].account.username == Self.alice && results[2].authority.url == results[0].authority.url)
            var parameters = try f.parameters()
            parameters.redirectURI = "http://localhost"
            parameters.validatesAuthority = false
            let request = AcquireTokenSilent(parameters: parameters, account: signedIn.account.reference)
            #expect(client.keptResult(for: request) != nil)
            try f.msal().remove(account)
            #expect(client.keptResult(for: request) == nil)
            let error = await appError { try await app.silent(account) }
            #expect(error?.code == MSALError.interactionRequired.rawValue)
        }
    }

    @Test func keepsTheResultOfADALUntilAnyAccountOfTheGroupChanges() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let (client, context) = (client(f), try f.adal())
            context.agent = client
            var results: [ADAuthenticationResult] = []
            for _ in 0..<3 { results.append(try await context.silent(Self.graph, Self.alice)) }
            #expect(results.allSatisfy { $0.status == AD_SUCCEEDED && !$0.multiResourceRefreshToken })
            #expect(Set(results.map(\.accessToken)).count == 1)
            #expect(Set(results.map { $0.tokenCacheItem?.userInformation?.userId }) == [Self.alice])
            // A copy for the app, which may change it.
            results[1].tokenCacheItem?.accessToken = nil
            #expect(results[2].tokenCacheItem?.accessToken != nil)
            var parameters = try f.parameters(resource: Self.graph, redirectURI: "http://localhost")
            parameters.validatesAuthority = false
            let request = AcquireTokenSilent(parameters: parameters, account: AccountReference(username: Self.alice))
            #expect(client.keptResult(for: request) != nil)
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: parameters.clientID, account: request.account))
            #expect(client.keptResult(for: request) == nil)
            #expect(try await context.silent(Self.graph, Self.alice).status == AD_FAILED)
        }
    }

    /// As if the agent had been asked. SwiftUI cancels the task of a view that disappears.
    @Test func returnsNoResultOfMSALToATaskThatIsCancelled() async throws {
        try await AgentFixture.with { f in
            let account = MSALAccount(try await f.signIn(Self.alice, f.parameters()).account)
            let app = try f.msal()
            app.session?.client = client(f)
            let session = try #require(app.session)
            let request = try session.silentRequest(
                MSALSilentTokenParameters(scopes: ["User.Read"], account: account))
            for _ in 0..<3 { _ = try await session.acquireTokenSilent(request) }
            #expect(session.client.keptResult(for: request) != nil)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await session.acquireTokenSilent(request).accessToken
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func returnsNoResultOfADALToATaskThatIsCancelled() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters(resource: Self.graph))
            let (client, context) = (client(f), try f.adal())
            context.agent = client
            for _ in 0..<3 { #expect(try await context.silent(Self.graph, Self.alice).status == AD_SUCCEEDED) }
            var parameters = try f.parameters(resource: Self.graph, redirectURI: "http://localhost")
            parameters.validatesAuthority = false
            let request = AcquireTokenSilent(parameters: parameters, account: AccountReference(username: Self.alice))
            #expect(client.keptResult(for: request) != nil)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                let context = try f.adal()
                context.agent = client
                return try await context.silent(Self.graph, Self.alice).status
            }
            #expect(try await task.value == AD_USER_CANCELLED)
        }
    }

    @Test func makesARequestOfMSALAgainWhenItsParametersChange() throws {
        let settings = try MSALRequestTests.settings()
        let recent = RecentSilentRequests()
        let parameters = MSALRequestTests.silent()
        func request() throws -> AcquireTokenSilent { try settings.silentRequest(parameters, recent: recent) }
        let first = try request()
        var second = try request()
        #expect(second.parameters.correlationID != first.parameters.correlationID)
        second.parameters.correlationID = first.parameters.correlationID
        #expect(second == first)
        parameters.correlationId = UUID()
        #expect(try request().parameters.correlationID.uuid == parameters.correlationId)
        parameters.scopes = ["Mail.Read"]
        #expect(try request().parameters.scopes.scopes == ["Mail.Read"])
        parameters.forceRefresh = true
        #expect(try request().forceRefresh)
        parameters.extraQueryParameters = ["dc": "mine"]
        #expect(try request().parameters.extraParameters == ["dc": "mine"])
        parameters.authority = try MSALAADAuthority(url: url("https://login.microsoftonline.com/organizations"))
        #expect(try request().parameters.authority.realm == "organizations")
        parameters.scopes = ["openid"]
        #expect(throws: NSError.self) { try request() }
        parameters.account = nil
        #expect(throws: NSError.self) { try request() }
    }

    /// An API has refused the token of the earlier request, and has named the claims.
    @Test func makesARequestOfMSALWithClaimsEachTime() throws {
        let (settings, recent) = (try MSALRequestTests.settings(), RecentSilentRequests())
        let parameters = MSALRequestTests.silent()
        _ = try settings.silentRequest(parameters, recent: recent)
        parameters.claimsRequest = MSALClaimsRequest()
        try parameters.claimsRequest?.requestClaim(MSALIndividualClaimRequest(name: "nbf"), for: .accessToken)
        let request = try settings.silentRequest(parameters, recent: recent)
        #expect(request.parameters.claims == #"{"access_token":{"nbf":null}}"#)
    }

    @Test func makesAValueOncePerKeyAndForgetsTheOldest() throws {
        let values = RecentValues<Int, Int>(limit: 3)
        var made: [Int] = []
        func value(_ key: Int) -> Int {
            values.value(for: key) {
                made.append(key)
                return key * 2
            }
        }
        for key in [1, 1, 2, 3, 1, 4, 1] { #expect(value(key) == key * 2) }
        #expect(made == [1, 2, 3, 4, 1])
        struct Refused: Error {}
        for _ in 0..<2 {
            #expect(throws: Refused.self) { try values.value(for: 9) { () throws(Refused) in throw Refused() } }
        }
    }
}
