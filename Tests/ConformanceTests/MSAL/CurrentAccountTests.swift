internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// The current account of an app, and the previous one.
@Suite(.bounded) struct CurrentAccountTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: A4 MSIDAccountMetadataCacheAccessorTests
    //   testUpdatePrincipalAccountId_whenNilPrincipalId_shouldRemovePreviousPrincipalId; MSALPublicClientApplicationTests
    //   testCurrentAccount_*
    @Test func remembersTheLastAnswerInEveryProcessOfTheApp() async throws {
        try await AgentFixture.with { f in
            let (app, again, other) = (try f.msalApp(), try f.msalApp(), try f.msalApp("app-2"))
            func answer(_ app: MSALPublicClientApplication) async throws -> [String?] {
                let (account, previous) = try await app.currentAccount(with: nil)
                #expect(previous?.tenantProfiles == nil)
                return [account?.username, previous?.username]
            }
            #expect(try await answer(app) == [nil, nil])
            let account = try await app.signIn(Self.alice).account
            #expect(try await answer(app) == [Self.alice, nil])
            #expect(try await answer(again) == [Self.alice, Self.alice])
            #expect(try await answer(other) == [nil, nil])
            try await offPool { try app.remove(account) }
            #expect(try await answer(again) == [nil, Self.alice])
            #expect(try await answer(app) == [nil, nil])
        }
    }

    // Mirrors: M11 MSALPublicClientApplicationTests
    //   testCurrentAccount_whenBrokerDisabled_andMultipleAccounts_shouldReturnError
    @Test func failsIfSeveralAccountsAreSignedIn() async throws {
        try await AgentFixture.with { f in
            let app = try f.msalApp()
            for user in [Self.alice, "bob@contoso.com"] { try await app.signIn(user) }
            let error = await failure { _ = try await app.currentAccount(with: nil) }
            #expect(error?.internalCode == MSALInternalError.internalErrorAmbiguousAccount.rawValue)
            let (account, previous, again) = await withCheckedContinuation { continuation in
                app.getCurrentAccount(with: nil) { account, previous, error in
                    continuation.resume(returning: (account?.username, previous?.username, error.map { $0 as NSError }))
                }
            }
            #expect(account == nil && previous == nil)
            #expect(again == error)
        }
    }

    // Mirrors: msal.md 3.2: an account of an external provider counts
    @Test func countsAnExternalAccount() async throws {
        try await AgentFixture.with { f in
            let provider = KnownAccounts([NamedAccount(username: "carl@contoso.com", identifier: "carl.tenant")])
            let app = try f.msalApp { $0.cacheConfig.addExternalAccountProvider(provider) }
            #expect(try await app.currentAccount(with: nil).0?.username == "carl@contoso.com")
            try await app.signIn(Self.alice)
            let error = await failure { _ = try await app.currentAccount(with: nil) }
            #expect(error?.internalCode == MSALInternalError.internalErrorAmbiguousAccount.rawValue)
            // A call that failed leaves no previous account.
            provider.forget()
            let (account, previous) = try await app.currentAccount(with: nil)
            #expect(account?.username == Self.alice)
            #expect(previous == nil)
        }
    }
}

/// A provider with given accounts.
///
/// Unchecked because the calls of the test come one after another.
private final class KnownAccounts: NSObject, MSALExternalAccountProviding, @unchecked Sendable {
    private var known: [NamedAccount]

    init(_ known: [NamedAccount]) { self.known = known }

    func forget() { known = [] }

    func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {}
    func remove(_ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?) throws {}
    func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol] { known }
}
