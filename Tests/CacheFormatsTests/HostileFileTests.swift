internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// No input makes a reader trap, hang, or use memory out of proportion to its size.
@Suite(.bounded) struct HostileFileTests {
    @Test(arguments: Fixture.all)
    func survivesATruncatedFile(fixture: Fixture) async throws {
        let bytes = try fixture.bytes
        try await inBackground {
            for length in Self.some(100, of: bytes.count) {
                _ = try? Fixture.read(Array(bytes.prefix(length)), fixture.format)
            }
        }
    }

    @Test(arguments: Fixture.all)
    func survivesFlippedBits(fixture: Fixture) async throws {
        let whole = try fixture.bytes
        try await inBackground {
            var bytes = whole
            for index in Self.some(40, of: bytes.count) {
                bytes[index] ^= 1 << (index % 8)
                if let foreign = try? Fixture.read(bytes, fixture.format) {
                    var cache = CredentialCache()
                    cache.merge(foreign)
                }
                bytes[index] = whole[index]
            }
        }
    }

    /// About `count` evenly spaced positions in a file, from a random first one. The fuzzer tries every position.
    private static func some(_ count: Int, of length: Int) -> StrideTo<Int> {
        var seed = TestSeed()
        let step = max(1, length / count)
        return stride(from: Int.random(in: 0..<step, using: &seed), to: length, by: step)
    }

    /// The fuzzer's corpus.
    @Test(arguments: zip(["adal-archive", "adal-json", "msal-json"], [CacheFormat.adalArchive, .adalJSON, .msalJSON]))
    func survivesTheCorpus(target: String, format: CacheFormat) throws {
        try FuzzCorpus.check(target) { FormatProperties.brokenImport($0, format) }
    }

    /// The properties of all inputs hold for the libraries' caches.
    @Test(arguments: Fixture.all)
    func exportsAnImportUnchanged(fixture: Fixture) async throws {
        let bytes = try fixture.bytes
        let broken = try await inBackground { FormatProperties.brokenImport(bytes, fixture.format) }
        #expect(broken == nil)
    }

    /// Quadratic work on this input would take an hour.
    @Test func mergesEntriesOfManyMembersInLinearTime() async throws {
        func entry(_ prefix: String) -> String {
            let members = (0..<60_000).map { "\"\(prefix)\($0)\":1" }.joined(separator: ",")
            return """
                {"home_account_id": "a.b", "environment": "login.microsoftonline.com", "realm": "b", "username": "u",
                 "authority_type": "MSSTS", \(members)}
                """
        }
        let file = "{\"Account\": {\"1\": \(entry("x")), \"2\": \(entry("y"))}}"
        try await offPool {
            var cache = CredentialCache()
            #expect(try cache.merge(Array(file.utf8), .msalJSON).report.accounts == 1)
            _ = try cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        }
    }

    /// The records of one account are compared with one another, which takes a time that is quadratic in their number.
    @Test func readsALimitedNumberOfEntriesOfAnAccount() throws {
        let entries = (0..<2003).map { number in
            """
            "\(number)": {"home_account_id": "u.t", "environment": "sts.windows.net", "client_id": "c-\(number)", "secret": "rt"}
            """
        }
        let file = "{\"RefreshToken\": {\(entries.joined(separator: ","))}}"
        let foreign = try Fixture.read(Array(file.utf8), .msalJSON)
        #expect(foreign.entries.count == 2000)
        #expect(foreign.skipped.count == 3)
        #expect(foreign.skipped.first.allSatisfy { $0.reason == "the cache has more than 2000 entries like it" })
    }

    /// The agent's own section of a file has the records of a store, with fields that an export writes in place of the record's.
    @Test func exportsAnAccountAsItIsWhateverTheOwnSectionOfAFileSays() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten - 1
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-mine")
        let before = try builder.cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        let file = #"""
            {"SSOAgent": {"x": {"kind": 1, "record": {"home_account_id": "oid-alice.\#(CacheBuilder.tenant)", "issuer": "",
               "environment": "login.microsoftonline.com", "realm": "\#(CacheBuilder.tenant)",
               "username": "alice@contoso.com", "authority_type": "MSSTS", "source": "msal",
               "foreign": "{\"home_account_id\": \"x.y\", \"environment\": \"other.example\", \"realm\": \"z\"}"}}}}
            """#
        try builder.cache.merge(Array(file.utf8), .msalJSON)
        #expect(try builder.cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten) == before)
    }

    @Test func stopsAtAnArchiveThatRefersToItself() throws {
        // A dictionary that holds itself, many times over.
        var archive = KeyedArchiveWriter()
        let loop = (0..<64).map { _ in (key: 0, value: 2) }
        let root = archive.add(dictionary: loop, isMutable: false)
        #expect(throws: TokenError.self) { try Fixture.read(archive.bytes(root: root), .adalArchive) }
    }

    /// Many places may refer to one text, and many items hold it.
    @Test func readsASharedTextOnce() throws {
        var writer = KeyedArchiveWriter()
        let long = writer.add(String(repeating: "x", count: 100_000))
        let root = writer.add(
            dictionary: (0..<20).map { _ in (key: long, value: long) }, isMutable: false)
        var archive = try KeyedArchive(writer.bytes(root: root))
        let pairs = try #require(try archive.instance(archive.root).flatMap { try archive.pairs($0) })
        // All of them at once, since memory that is given back would be used again.
        let texts = try pairs.flatMap { [$0.key, $0.value] }.map { try #require(try archive.text($0)) }
        var addresses: Set<UnsafePointer<UInt8>> = []
        for text in texts {
            text.utf8.withContiguousStorageIfAvailable { _ = $0.baseAddress.map { addresses.insert($0) } }
        }
        #expect(pairs.count == 20)
        #expect(addresses.count == 1)
    }

    @Test func stopsAtALongTextThatIsSharedTooOften() throws {
        var writer = KeyedArchiveWriter()
        let long = writer.add(String(repeating: "x", count: 1_000_000))
        let items = (0..<200).map { number in
            let item = writer.add(
                "ADTokenCacheStoreItem", [(name: "userId", value: long), (name: "authority", value: long)])
            return (key: writer.add("\(number)"), value: item)
        }
        let root = writer.add(dictionary: items, isMutable: false)
        var archive = try KeyedArchive(writer.bytes(root: root))
        let pairs = try #require(try archive.instance(archive.root).flatMap { try archive.pairs($0) })
        let error = #expect(throws: TokenError.self) {
            for pair in pairs {
                for place in try #require(try archive.instance(pair.value)).members.values {
                    _ = try archive.text(place)
                }
            }
        }
        #expect(error?.code == .cacheBadFormat)
    }
}

extension KeyedArchiveWriter {
    /// The archive of a root object, in one piece.
    fileprivate func bytes(root: Int) -> [UInt8] {
        var archive = self
        archive.finish(root: root)
        return archive.drain()
    }
}
