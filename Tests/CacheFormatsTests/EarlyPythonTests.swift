internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// MSAL Python 0.1.0 writes scopes as lists and times as numbers, and reads no other forms.
@Suite(.bounded) struct EarlyPythonTests {
    @Test func exportsEveryTokenAsItWasImported() throws {
        var cache = CredentialCache()
        try cache.merge(Array(Self.file.utf8), .msalJSON)
        let exported = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        let (before, after) = (try JSONReader.read(Array(Self.file.utf8)), try JSONReader.read(exported))
        for section in ["AccessToken", "RefreshToken", "Account", "IdToken"] {
            for entry in try #require(before[section]).members {
                let isKept = try #require(after[section]).members.contains { kept in
                    entry.value.members.allSatisfy { kept.value[$0.name] == $0.value }
                }
                #expect(isKept, "\(section) \(entry.name)")
            }
        }
        // Under its realm and under the tenant, each by a name of its own, as the library sorts the scopes.
        let names = try #require(after["AccessToken"]).members.map(\.name)
        let home = "oid-alice.\(CacheBuilder.tenant)-login.microsoftonline.com-accesstoken-app-1-"
        #expect(Set(names).isSuperset(of: ["\(home)common-mail.read user.read", "\(home)common-files.read"]))
        #expect(try cache.merge(exported, .msalJSON).changes.isEmpty)
    }

    /// The agent's newer times take the form of the old ones.
    @Test func exportsNewTimesAsNumbers() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten
        try builder.cache.merge(Array(Self.file.utf8), .msalJSON)
        try builder.signIn("alice", builder.parameters(scopes: ["Files.Read"]), granted: ["Files.Read"])
        let json = try JSONReader.read(builder.cache.export(.msalJSON, of: .standard, now: builder.now))
        let renewed = try #require(json["AccessToken"]).members.map(\.value).filter {
            $0["secret"]?.string == "at-alice-Files.Read"
        }
        #expect(!renewed.isEmpty)
        for token in renewed {
            #expect(token["cached_at"] == .number("\(builder.now).0"))
            #expect(token["expires_on"] == .number("\(builder.now + 3600).0"))
        }
    }

    private static var file: String {
        let idToken = CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v2)
        let base =
            #""home_account_id": "oid-alice.\#(CacheBuilder.tenant)", "environment": "login.microsoftonline.com", "#
            + #""client_id": "app-1", "realm": "common""#
        func accessToken(_ target: String, _ secret: String) -> String {
            #"{\#(base), "credential_type": "AccessToken", "secret": "\#(secret)", "target": \#(target), "#
                + #""cached_at": 1795229000.774, "expires_on": 1795239000.774, "extended_expires_on": 1795229000.774}"#
        }
        return """
            {"AccessToken": {"1": \(accessToken(#"["User.Read", "Mail.Read"]"#, "at-1")),
               "2": \(accessToken(#"["Files.Read"]"#, "at-2"))},
             "RefreshToken": {"3": {\(base), "credential_type": "RefreshToken", "secret": "rt-1",
               "target": ["User.Read", "Mail.Read"], "client_info": "e30"}},
             "IdToken": {"4": {\(base), "credential_type": "IdToken", "secret": "\(idToken)"}},
             "Account": {"5": {\(base), "username": "alice@contoso.com", "authority_type": "AAD",
               "local_account_id": "oid-alice-in-7a1e"}}}
            """
    }
}
