internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct SecretTests {
    private struct Holder {
        var name = "holder"
        var secret = Secret("swordfish")
        var list = [Secret("swordfish")]
        var optional: Secret? = Secret("swordfish")
    }

    @Test func neverPrints() {
        let secret = Secret("swordfish")
        let holder = Holder()
        var texts = ["\(secret)", String(describing: secret), String(reflecting: secret), secret.debugDescription]
        texts += [
            "\(holder)", String(reflecting: holder), "\([secret])", "\(["key": secret])", "\(Optional(secret) as Any)",
        ]
        texts.append("\(SecretTests.result)")
        for value in [secret, holder, [secret], SecretTests.result] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            texts.append(dumped)
            var printed = ""
            print(value, to: &printed)
            texts.append(printed)
        }
        for text in texts { #expect(!text.contains("swordfish") && !text.contains("73776f72")) }
        #expect("\(secret)" == "<secret, 9 bytes>")
    }

    @Test func comparesByContent() {
        #expect(Secret("swordfish") == Secret("swordfish"))
        #expect(Secret("swordfish") != Secret("swordfisH"))
        #expect(Secret("swordfish") != Secret("swordfish "))
        #expect(Secret("") == Secret(bytes: []))
        #expect(Set([Secret("a"), Secret("a"), Secret("b")]).count == 2)
    }

    /// Its bytes are in the store.
    @Test func takesAnUnreadSecretForNoEmptyOne() {
        let unread = Secret.unread
        #expect(unread == Secret.unread)
        #expect(unread != Secret("") && Secret("") != unread)
    }

    @Test func givesItsBytesBack() {
        #expect(Secret("é").reveal() == "é")
        #expect(Secret(bytes: [1, 2, 3]).withBytes { Array($0) } == [1, 2, 3])
        #expect(Secret("é").count == 2)
        #expect(Secret("").isEmpty)
        #expect(Secret("").reveal() == "")
    }

    private static let result = TokenResult(
        accessToken: Secret("swordfish"), tokenType: "Bearer", expiresOn: 0, scopes: [], idToken: nil,
        account: Account(homeAccountID: nil, username: nil, environment: "", source: .msal), tenantProfile: nil,
        authority: "", correlationID: CorrelationID(), isFromCache: false)
}
