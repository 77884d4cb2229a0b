internal import TestSupport
internal import Testing
internal import TokenModel

/// The redirect URI of a browser sign-in, and the messages about it.
@Suite(.bounded) struct BrowserRedirectTests {
    @Test(arguments: [
        "http://localhost", "http://localhost/", "HTTP://LocalHost:8400/done?x=1", "http://127.0.0.1:5000",
        "http://[::1]/", "http://localhost:0/cb",
    ]) func usesAnAddressOfThisMachineAsItIs(uri: String) {
        let redirect = BrowserRedirect(uri)
        #expect(redirect.replaced == nil)
        #expect(redirect.registration == uri)
    }

    @Test(arguments: [
        "msauth.com.contoso.notes://auth", "urn:ietf:wg:oauth:2.0:oob", "myapp://auth", "https://localhost/",
        "https://login.microsoftonline.com/common/oauth2/nativeclient", "http://localhost.contoso.com",
        "http://127.0.0.2",
        "http://user@contoso.com/localhost", "http://user:secret@localhost", "http://[::1]:@[::1]:8081",
        "http://%6cocalhost", "http://localhost:65536", "http://localhost:99999999999999999999/cb",
        "http://localhost ", "", "localhost",
    ]) func replacesEveryOther(uri: String) {
        let redirect = BrowserRedirect(uri)
        #expect(redirect.replaced == uri)
        #expect(redirect.registration == "http://localhost")
        #expect(redirect.notice.contains(uri))
        #expect(redirect.notice.contains("AADSTS50011"))
        #expect(redirect.notice.contains("register http://localhost as a redirect URI"))
    }

    @Test func replacesNothingWhereThereIsNone() {
        #expect(BrowserRedirect(nil).replaced == nil)
        #expect(BrowserRedirect(nil).registration == "http://localhost")
        #expect(!BrowserRedirect(nil).notice.contains("cannot be used"))
    }
}
