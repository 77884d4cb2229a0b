internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel

@testable internal import TokenAgent

/// A sign-out while the account's refresh token is being redeemed.
@Suite(.bounded) struct SignOutDuringRedemptionTests {
    private let parts = Parts()

    private func isOfSignOut(_ error: TokenError) -> Bool {
        (error.code, error.message) == (TokenSaver.signedOutMeanwhile.code, TokenSaver.signedOutMeanwhile.message)
    }

    @Test func sendsNothingAfterASignOutBeforeTheNoteIsWritten() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let request = await parts.acquire(.sample("alice"))
        let note = await parts.store.commits.next()
        parts.store.hold(false)
        let removal = await parts.signOut("alice")
        note.succeed()
        try await removal.value()
        #expect(try await request.error().map(isOfSignOut) == true)
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.notes == 0)
        #expect(parts.store.refreshTokens == [])
    }

    @Test func savesNothingAfterASignOutWhileTheTokenIsSent() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.signOut("alice").value()
        redemption.answer(.sample("alice", "2"))
        let error = try await request.error()
        #expect(error.map(isOfSignOut) == true)
        #expect(error?.details.hasChangedCache == false)
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.notes == 0)
    }

    /// Without an ID token, only the records of the account would say whose the access token is.
    @Test func reportsASignOutAlsoIfTheResponseHasNoIDToken() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.signOut("alice").value()
        var tokens = IssuedTokens.sample("alice", "2")
        tokens.idToken = nil
        redemption.answer(tokens)
        #expect(try await request.error().map(isOfSignOut) == true)
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.notes == 0)
    }

    @Test func keepsNothingAfterASignOutWhileTheResponseIsSaved() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        parts.store.hold()
        redemption.answer(.sample("alice", "2"))
        let commit = await parts.store.commits.next()
        let removal = await parts.signOut("alice")
        parts.store.hold(false)
        commit.succeed()
        try await removal.value()
        _ = try await request.error()
        #expect(try await parts.refreshTokens() == [])
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.notes == 0)
    }

    /// The family's refresh token stays for the other app. Its redemption must not sign the first app in again, nor be lost.
    @Test func savesOnlyTheTokenOfTheFamilyAfterASignOutOfOneOfItsApps() async throws {
        try await parts.signInOtherAppOfFamily("1").value()
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-1")
        #expect(try await parts.signOut("alice", extent: .app).value())
        redemption.answer(.familySample("2"))
        let error = try await request.error()
        #expect(error.map(isOfSignOut) == true)
        #expect(error?.details.hasChangedCache == true)
        #expect(try await parts.refreshTokens() == ["rt-2", "rt-2"], "the other app's own, and the family's")
        #expect(parts.store.notes == 0)
        #expect(try await parts.acquire(.sample("alice", force: false)).error()?.code == .interactionRequired)
        #expect(parts.provider.redemptions.count == 0)
    }

    /// The app has a copy of the family's refresh token, and the sign-out removes that copy only.
    @Test func renewsTheTokenOfTheFamilyAfterASignOutOfTheAppWhoseCopyWasSent() async throws {
        try await parts.signInOtherAppOfFamily("1").value()
        let first = await parts.acquire(.sample("alice"))
        await parts.provider.redemptions.next().answer(.familySample("2"))
        try await first.value()
        #expect(try await parts.refreshTokens() == ["rt-2", "rt-2", "rt-2"])
        let second = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-2")
        #expect(try await parts.signOut("alice", extent: .app).value())
        redemption.answer(.familySample("3"))
        let error = try await second.error()
        #expect(error.map(isOfSignOut) == true)
        #expect(error?.details.hasChangedCache == true)
        #expect(try await parts.refreshTokens() == ["rt-3", "rt-3"], "the other app's own, and the family's")
        #expect(parts.store.notes == 0)
    }

    @Test func sendsNoTokenOfAFamilyAfterASignOutOfTheApp() async throws {
        try await parts.signInOtherAppOfFamily("1").value()
        parts.store.hold()
        let request = await parts.acquire(.sample("alice"))
        let note = await parts.store.commits.next()
        parts.store.hold(false)
        let removal = await parts.signOut("alice", extent: .app)
        note.succeed()
        try await removal.value()
        #expect(try await request.error().map(isOfSignOut) == true)
        #expect(parts.provider.redemptions.count == 0)
        #expect(parts.store.notes == 0)
        #expect(try await parts.refreshTokens() == ["rt-1", "rt-1"])
    }

    @Test func keepsTheTokenOfALaterSignIn() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        try await parts.signOut("alice").value()
        try await parts.signIn("alice", "2").value()
        redemption.answer(.sample("alice", "3"))
        try await request.value()
        #expect(try await parts.refreshTokens() == ["rt-2"])
        #expect(parts.store.refreshTokens == ["rt-2"])
        #expect(parts.store.notes == 0)
    }
}

extension IssuedTokens {
    /// The tokens of alice for an app of the family `1`.
    fileprivate static func familySample(_ token: String) -> IssuedTokens {
        var tokens = IssuedTokens.sample("alice", token)
        tokens.familyID = FamilyID("1")
        return tokens
    }
}

extension Parts {
    /// Signs alice in to another app, whose refresh token its family shares.
    fileprivate func signInOtherAppOfFamily(_ token: String) throws -> Pending<TokenResult> {
        var parameters = TokenParameters.sample()
        parameters.clientID = try .sample(1)
        return start { [parameters] parts async throws(TokenError) in
            try await parts.core.saver.save(
                .familySample(token), from: .signIn, parameters, at: parameters.authority)
        }
    }
}
