internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import ADALCompat

@Suite(.bounded) struct ADALResultTests {
    private func target(_ authority: String) throws -> TokenAcquisition.Target {
        TokenAcquisition.Target(
            resource: "https://graph.microsoft.com", clientID: "app-1",
            authority: try #require(CanonicalAuthority(authority)))
    }

    private func token(idToken: String? = nil, username: String? = "Alice@contoso.com") -> TokenResult {
        TokenResult(
            accessToken: Secret("AT"), tokenType: "", expiresOn: 1000, extendedExpiresOn: 2000, scopes: [],
            idToken: idToken,
            account: Account(
                homeAccountID: HomeAccountID("uid.utid"), username: username, environment: "login.windows.net",
                source: .adal),
            tenantProfile: nil, authority: "https://login.microsoftonline.com/72f988bf", correlationID: CorrelationID(),
            isFromCache: true, familyID: FamilyID("1"), hasMultiResourceRefreshToken: true)
    }

    @Test func repeatsTheRequestAndCarriesTheToken() throws {
        let token = token(idToken: try ADALIDToken.make(["ver": "1.0", "upn": "alice@contoso.com"]))
        let result = ADAuthenticationResult(token, for: try target("https://login.windows.net/common"))
        let item = try #require(result.tokenCacheItem)
        #expect(result.status == AD_SUCCEEDED)
        #expect(result.error == nil)
        #expect(result.accessToken == "AT")
        #expect(result.authority == "https://login.windows.net/common")
        #expect(result.correlationId == token.correlationID.uuid)
        #expect(item.authority == "https://login.windows.net/common")
        #expect(item.resource == "https://graph.microsoft.com")
        #expect(item.clientId == "app-1")
        #expect(item.accessTokenType == "Bearer")
        #expect(item.expiresOn == Date(timeIntervalSince1970: 1000))
        #expect(item.familyId == "1")
        #expect(item.refreshToken == nil)
        #expect(item.userInformation?.userId == "alice@contoso.com")
        #expect(item.userInformation?.homeAccountId == "uid.utid")
    }

    @Test func distinguishesAHitFromARefreshAndAnOutage() throws {
        let target = try target("https://login.windows.net/common")
        var token = token()
        #expect(!ADAuthenticationResult(token, for: target).multiResourceRefreshToken)
        token.isFromCache = false
        #expect(ADAuthenticationResult(token, for: target).multiResourceRefreshToken)
        token.isExtendedLifetime = true
        let outage = ADAuthenticationResult(token, for: target)
        #expect(outage.extendedLifeTimeToken)
        #expect(!outage.multiResourceRefreshToken)
        #expect(outage.tokenCacheItem?.expiresOn == Date(timeIntervalSince1970: 2000))
    }

    @Test func namesAnotherCloudThatIssuedTheToken() throws {
        var token = token()
        token.authority = "https://login.microsoftonline.us/72f988bf"
        let result = ADAuthenticationResult(token, for: try target("https://login.windows.net/common"))
        #expect(result.authority == "https://login.microsoftonline.us/common")
    }

    /// Requests of the app would go to whatever a token names as its issuer.
    @Test func namesNoOtherHostThanThoseOfClouds() throws {
        var token = token()
        token.authority = "https://proxy.example/72f988bf"
        let result = ADAuthenticationResult(token, for: try target("https://login.windows.net/common"))
        #expect(result.authority == "https://login.windows.net/common")
    }

    /// The identifier is not a name that a sign-in page could be filled in with.
    @Test func namesAnAccountWithoutANameByItsIdentifier() throws {
        let target = try target("https://login.windows.net/common")
        let user = ADAuthenticationResult(token(username: nil), for: target).tokenCacheItem?.userInformation
        #expect(user?.userId == "uid.utid")
        #expect(user?.userIdDisplayable == false)
        #expect(user?.homeAccountId == "uid.utid")
    }

    @Test func describesAnAccountWithoutAnIDToken() throws {
        let target = try target("https://login.windows.net/common")
        let named = ADAuthenticationResult(token(), for: target).tokenCacheItem?.userInformation
        #expect(named?.userId == "alice@contoso.com")
        #expect(named?.userIdDisplayable == true)
        #expect(named?.homeAccountId == "uid.utid")
        #expect(named?.allClaims == nil)
        var nobody = token(username: nil)
        nobody.account.homeAccountID = nil
        #expect(ADAuthenticationResult(nobody, for: target).tokenCacheItem?.isEmptyUser() == true)
    }

    @Test(arguments: [(TokenError.Code.userCanceled, AD_USER_CANCELLED), (.serverOAuth, AD_FAILED)])
    func distinguishesACancellationFromAFailure(code: TokenError.Code, expected: ADAuthenticationResultStatus) {
        let correlationID = CorrelationID()
        let error = ADAuthenticationError(TokenError(code, "why"))
        let result = ADAuthenticationResult(error, correlationID: correlationID)
        #expect(result.status == expected)
        #expect(result.error == error)
        #expect(result.tokenCacheItem == nil)
        #expect(result.accessToken == nil)
        #expect(result.authority == nil)
        #expect(result.correlationId == correlationID.uuid)
    }

    // Mirrors: ADAuthenticationResult description, which apps write to their logs
    @Test func describesAResultInADALsLayout() throws {
        let target = try target("https://login.windows.net/common")
        var token = token()
        token.isFromCache = false
        let success = ADAuthenticationResult(token, for: target)
        #expect(
            success.description == """
                (error=(null), mrrt=YES, status=AD_SUCCEEDED, item=(authority=https://login.windows.net/common clientId=app-1 \
                accessToken=(hidden) accessTokenType=Bearer refreshToken=(nil) resource=https://graph.microsoft.com), \
                correlationId=\(token.correlationID.uuid.uuidString), authority=https://login.windows.net/common)
                """)
        let error = ADAuthenticationError(TokenError(.userCanceled, "why"))
        let failure = ADAuthenticationResult(error, correlationID: token.correlationID)
        #expect(failure.description.hasPrefix("(error=\(error.description), mrrt=NO, status=AD_USER_CANCELLED, "))
        #expect(failure.description.contains("item=(null), correlationId="))
        #expect(failure.description.hasSuffix("authority=(null))"))
    }
}
