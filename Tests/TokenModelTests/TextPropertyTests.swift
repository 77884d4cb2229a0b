internal import TestSupport
internal import Testing

@Suite(.bounded) struct TextPropertyTests {
    /// Texts whose changes are worth trying.
    private static let seeds = [
        "https://login.microsoftonline.com/common", "https://Contoso.b2clogin.com:443/tfp/contoso.com/B2C_1_signin/",
        "http://[::1]:8080/adfs/ls?x=1#y", "http://127.0.0.1:0/", "https://user@evil.example:99999/a/%2e%2e/b",
        "https://good.example\\@evil.example/common", "http://localhost.evil.example",
        "https://xn--bcher-kva.example/t",
        "User.Read openid\tprofile  https://graph.microsoft.com/.default", "uid.utid", "a.b.c",
        "11111111-2222-4333-8444-55555555555F", #"{"oid":"O","ver":"2.0","preferred_username":"alice@contoso.com"}"#,
        "e30.eyJzdWIiOiJzIiwidXBuIjoiYUBiIn0.e30", "Ali\u{202E}ce\u{0301}\u{0301}\u{7}\u{2028}", "İ I\u{307}ß", "\r\n",
    ]

    @Test(arguments: seeds) func holdForATextAndItsChanges(text: String) {
        var random = TestSeed()
        let others = Self.seeds.map { Array($0.utf8) }
        for _ in 0..<300 {
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let position = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.insert(.random(in: 0...255, using: &random), at: position)
                case 1: if position < bytes.count { bytes.remove(at: position) }
                case 2: if position < bytes.count { bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
                default:
                    let other = others.randomElement(using: &random) ?? []
                    bytes.replaceSubrange(position..., with: other.suffix(.random(in: 0...other.count, using: &random)))
                }
            }
            #expect(TextProperties.broken(bytes) == nil, "\(random)")
        }
    }

    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        try FuzzCorpus.check("text", changes: 50, TextProperties.broken)
    }
}
