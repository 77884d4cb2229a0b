internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct Base64URLTests {
    /// RFC 4648 section 10 without padding, and the two characters that differ from plain Base64.
    @Test(
        arguments: [
            ([], ""), ([0x66], "Zg"), ([0x66, 0x6f], "Zm8"), ([0x66, 0x6f, 0x6f], "Zm9v"), ([0xfb, 0xff], "-_8"),
        ] as [([UInt8], String)])
    func encodesAndDecodes(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(Data(bytes)) == text)
        #expect(Base64URL.encode(Secret(bytes: bytes)) == Secret(text))
        #expect(Base64URL.decode(text) == Data(bytes))
    }

    @Test(arguments: ["Zg==", "Zm8="])
    func passesOverPadding(text: String) {
        #expect(Base64URL.decode(text) != nil)
    }

    @Test(arguments: ["Z", "Zg!", "Zm9v Zg", "é"])
    func refusesWhatIsNotBase64(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
