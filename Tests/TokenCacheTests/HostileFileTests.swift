internal import Foundation
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// No bytes make a reader trap, hang or take more memory than they are worth.
@Suite struct HostileFileTests {
    @Test(arguments: Fixture.all)
    func survivesAFileCutAtEveryByte(fixture: Fixture) throws {
        let bytes = try fixture.bytes
        // Of the long ones a part, so that the tests stay quick; the fuzzer cuts them everywhere.
        let step = max(1, bytes.count / 2000)
        for length in stride(from: 0, to: bytes.count, by: step) {
            _ = try? Fixture.read(Array(bytes.prefix(length)), fixture.format)
        }
    }

    /// One bit of every byte, another at each; the fuzzer tries the rest.
    @Test(arguments: Fixture.all)
    func survivesFlippedBits(fixture: Fixture) throws {
        var bytes = try fixture.bytes
        for index in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 1500)) {
            bytes[index] ^= 1 << (index % 8)
            if let foreign = try? Fixture.read(bytes, fixture.format) {
                var cache = CredentialCache()
                cache.take(foreign)
            }
            bytes[index] ^= 1 << (index % 8)
        }
    }

    /// What the fuzzer found, and where it starts from.
    @Test(arguments: ["json", "adal-archive", "adal-json", "msal-json"])
    func survivesTheCorpus(target: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fuzz/corpus/\(target)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.isEmpty)
        for name in names {
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
            let broken =
                switch target {
                case "json": FormatProperties.brokenJSON(bytes)
                case "adal-archive": FormatProperties.brokenImport(bytes, .adalArchive)
                case "adal-json": FormatProperties.brokenImport(bytes, .adalJSON)
                default: FormatProperties.brokenImport(bytes, .msalJSON)
                }
            #expect(broken == nil, "\(name)")
        }
    }

    /// What holds for all bytes holds for what the libraries wrote.
    @Test(arguments: Fixture.all)
    func goesOutAsItCameIn(fixture: Fixture) throws {
        #expect(FormatProperties.brokenImport(try fixture.bytes, fixture.format) == nil)
    }

    @Test(arguments: ["[", #"{"a":"#, "[[[", #"[""#])
    func refusesDeepNesting(opening: String) {
        let bytes = Array(String(repeating: opening, count: 100_000).utf8)
        let error = #expect(throws: TokenError.self) { try JSONReader.read(bytes) }
        #expect(error?.code == .cacheBadFormat)
    }

    @Test(arguments: [
        "", " ", "nul", "01", "1.", ".5", "-", "1e", "+1", #""\x""#, #""\u12"#, "\"\u{1}\"", "[1 2]", "{1:2}", "{}{}",
        "[1,,2]", "\"\\",
    ])
    func refusesWhatIsNotJSON(text: String) {
        #expect(throws: TokenError.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test(arguments: [
        (
            #"{"a":[1,-2.5e+3,true,false,null],"b":"\u00e9\ud83d\ude00\n\"/"}"#,
            #"{"a":[1,-2.5e+3,true,false,null],"b":"é😀\n\"/"}"#
        ),
        (#"[1,{"x":2,},]"#, #"[1,{"x":2}]"#), (#""\ud800x""#, "\"\u{FFFD}x\""), ("\u{FEFF}{}", "{}"),
    ])
    func readsWhatIs(text: String, written: String) throws {
        #expect(try JSONReader.read(Array(text.utf8)).json == written)
    }

    @Test func endsWhereAnArchiveRefersToItself() throws {
        // A dictionary that holds itself, many times over.
        var archive = KeyedArchiveWriter()
        let loop = (0..<64).map { _ in (key: 0, value: 2) }
        let root = archive.add(dictionary: loop, isMutable: false)
        #expect(throws: TokenError.self) { try Fixture.read(archive.bytes(root: root), .adalArchive) }
    }
}
