internal import TestSupport
internal import Testing

@testable internal import TokenModel

/// What a person is asked to confirm.
@Suite(.bounded) struct PurposeTests {
    @Test func namesTheSharingGroupOfATransfer() throws {
        let group = try #require(SharingGroup("team"))
        #expect(
            ExportCache(format: .msalJSON, sharingGroup: group, includesSecrets: true).purpose
                == "export every refresh token of the sharing group team")
        #expect(
            ImportCache(format: .msalJSON, sharingGroup: group, data: Secret(""), isLast: true).purpose
                == "import accounts and tokens into the sharing group team")
    }

    /// A name may be 4 KiB long, and end the line of the question.
    @Test func shortensAndCleansTheNameOfASharingGroup() throws {
        let group = try #require(SharingGroup("a\u{202E}\n" + String(repeating: "b", count: 200)))
        let purpose = try #require(ExportCache(format: .msalJSON, sharingGroup: group, includesSecrets: true).purpose)
        #expect(purpose.utf8.count < 160 && !purpose.unicodeScalars.contains { $0 == "\n" || $0 == "\u{202E}" })
    }

    @Test func namesAllThatASocketServes() throws {
        let tenant = "https://login.microsoftonline.com/fabrikam.com"
        var request = PublishSocket(
            path: "/srv/sso/build.sock", clientIDs: [try #require(ClientID("app-1"))], scopes: ScopeSet(["User.Read"]),
            account: "alice@contoso.com", lifetime: 3600)
        let start =
            "publish a socket at /srv/sso/build.sock to your own user for 1 hour, with tokens of the account "
            + "alice@contoso.com, for the app app-1, with 1 scope"
        #expect(request.purpose == start + ": User.Read")
        request.authorities = [try Authority(tenant)]
        #expect(request.purpose == start + ", at \(tenant): User.Read")
        request.authorities.append(.common)
        request.sharingGroup = try #require(SharingGroup("team"))
        let lists = "User.Read; \(tenant) \(Authority.common.url)"
        #expect(request.purpose == start + ", at 2 authorities, of the sharing group team: \(lists)")
    }
}
