internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// Imports and exports in parts.
@Suite(.bounded) struct LongFileTests {
    /// The result does not depend on where the parts are divided.
    @Test(arguments: ["msal-json/python_1.39.0_basic.json", "adal-json/03_plus_guest_email_user.json"])
    func readsAFileInPartsOfAnySize(path: String) async throws {
        let format: CacheFormat = path.hasPrefix("adal") ? .adalJSON : .msalJSON
        let bytes = try Fixture.bytes(path)
        let now: Int64 = format == .msalJSON ? 1_790_000_011 : Fixture.whenWritten
        var whole = CredentialCache()
        try whole.merge(bytes, format, now: now)
        let expected = whole
        try await inBackground {
            for size in [1, 7, 1000] {
                let parts = stride(from: 0, to: bytes.count, by: size).map {
                    Secret(bytes: bytes[$0..<min($0 + size, bytes.count)])
                }
                let foreign = try ForeignCache(ForeignFile(parts), format: format, now: now, timeZone: .gmt)
                var cache = CredentialCache()
                cache.merge(foreign)
                #expect(cache == expected, "parts of \(size) bytes")
            }
        }
    }

    @Test func releasesEachPartAfterTheLastRead() throws {
        let parts = (0..<4).map { Secret("\($0),") }
        let file = ForeignFile([Secret("[")] + parts + [Secret("4]")])
        var once = file.jsonReader(isLast: false)
        #expect(try once.value().values.count == 5)
        #expect(file.part(0, isLast: false) != nil)
        var reader = file.jsonReader(isLast: true)
        #expect(try reader.value().values.count == 5)
        #expect((0..<6).allSatisfy { file.part($0, isLast: false) == nil })
    }

    /// An entry that is too long is skipped, and the rest of the file is read.
    @Test func skipsAnEntryThatIsTooLong() throws {
        let long = String(repeating: "\"é\",", count: 850_000)
        let file = """
            {"Unknown": [\(long)1], "Account": {"1": {"home_account_id": "u.t", "environment": "sts.windows.net", "realm": "t",
               "username": "u", "authority_type": "MSSTS", "extra": [\(long)1]},
              "2": {"home_account_id": "v.t", "environment": "sts.windows.net", "realm": "t", "username": "v"}}}
            """
        var cache = CredentialCache()
        let report = try cache.merge(Array(file.utf8), .msalJSON).report
        #expect(report.accounts == 1)
        #expect(report.reasons == ["it is longer than 4 MiB", "it is longer than 4 MiB"])
    }

    /// Otherwise each import could make a record longer, until no import could read what an export has of it.
    @Test func addsNoFieldsBeyondTheLimitOfARecord() throws {
        let note = String(repeating: "n", count: 3 << 20)
        var cache = CredentialCache()
        for name in ["a", "b"] {
            let file = """
                {"Account": {"1": {"home_account_id": "u.t", "environment": "sts.windows.net", "realm": "t",
                  "username": "u", "authority_type": "MSSTS", "\(name)": "\(note)"}}}
                """
            try cache.merge(Array(file.utf8), .msalJSON)
        }
        let accounts = cache.partition(.standard).accounts.values.flatMap(\.accounts.values)
        let lengths = accounts.compactMap { $0.unknownFields?.utf8.count }
        #expect(lengths.count == 1)
        #expect(lengths.allSatisfy { $0 > note.utf8.count && $0 <= ValueLimits.unknownFields })
    }

    /// Of entries and sections with one name the last is read.
    @Test func readsTheLastOfSeveralSectionsOfOneName() throws {
        func account(_ name: String) -> String {
            #"{"home_account_id": "\#(name).t", "environment": "sts.windows.net", "realm": "t", "username": "\#(name)"}"#
        }
        for (file, names) in [
            (
                #"{"Account": {"1": \#(account("a"))}, "Account": {"1": \#(account("b")), "2": \#(account("c"))}}"#,
                ["b", "c"]
            ),
            (#"{"Account": {"1": \#(account("a")), "1": \#(account("b"))}}"#, ["b"]),
            (#"{"Account": {"1": \#(account("a"))}, "Account": {}}"#, []),
            (#"{"Account": {"1": \#(account("a"))}, "Account": 7}"#, []),
            (#"{"Account": 7, "Account": {"1": \#(account("a"))}}"#, ["a"]),
        ] {
            var cache = CredentialCache()
            try cache.merge(Array(file.utf8), .msalJSON)
            #expect(try cache.listedAccounts().compactMap(\.username) == names, "\(file)")
            #expect(try cache.merge(Array(file.utf8), .msalJSON).changes.isEmpty)
        }
    }

    /// As above: an entry that is not read does not tell the tenant of the others.
    @Test func takesNoTenantFromAnEntryThatIsReplaced() throws {
        let other = CacheBuilder.idToken("alice", tenant: "ffff0000-0000-4000-8000-000000000002", version: .v2)
        let entry = """
            "IdToken": {"2": {"home_account_id": "oid-alice.\(CacheBuilder.tenant)", "environment": "login.microsoftonline.com",
              "client_id": "app-1", "realm": "common", "secret": "\(other)", "credential_type": "IdToken"},
            """
        let file = UnifiedImportTests.cache(realm: "common").replacing(#""IdToken": {"#, with: entry)
        var cache = CredentialCache()
        try cache.merge(Array(file.utf8), .msalJSON)
        let tokens = cache.partition(.standard).accounts.values.flatMap(\.accessTokens.values)
        #expect(tokens.map(\.realm) == [CacheBuilder.tenant])
    }

    /// Parts of any size give the same bytes, and their number is the announced length.
    @Test(arguments: [CacheFormat.msalJSON, .adalArchive])
    func exportsTheSameBytesInPartsOfAnySize(format: CacheFormat) throws {
        var builder = CacheBuilder()
        for number in 0..<50 {
            try builder.signIn("user-\(number)", builder.parameters())
            try builder.signIn("user-\(number)", builder.parameters("app-2", resource: "https://graph.windows.net"))
        }
        let whole = try builder.cache.export(format, of: .standard, now: builder.now)
        for size in [1000, 4096, 1 << 20] {
            var export = try builder.cache.startExport(format, of: .standard, now: builder.now)
            #expect(export.count == whole.count)
            var bytes: [UInt8] = []
            while let part = export.next(size) {
                #expect(part.count == min(size, whole.count - bytes.count))
                part.withBytes { bytes += $0 }
            }
            #expect(bytes == whole)
        }
    }

    @Test func exportsTheCacheOfTheMomentWhenTheExportBegan() throws {
        var builder = CacheBuilder()
        for number in 0..<20 { try builder.signIn("user-\(number)", builder.parameters()) }
        let whole = try builder.cache.export(.msalJSON, of: .standard, now: builder.now)
        var export = try builder.cache.startExport(.msalJSON, of: .standard, now: builder.now)
        var bytes: [UInt8] = []
        for number in 0... {
            guard let part = export.next(2000) else { break }
            part.withBytes { bytes += $0 }
            builder.remove(
                RemoveAccount(
                    clientID: try #require(CacheBuilder.app), account: CacheBuilder.account("user-\(number % 20)"),
                    extent: .account))
            try builder.signIn("late-\(number)", builder.parameters())
        }
        #expect(bytes == whole)
    }
}
