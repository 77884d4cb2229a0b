internal import Crypto
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Keys are wiped, and records are not printed.
@Suite(.bounded) struct WipingTests {
    @Test func wipesBytesInPlace() {
        var bytes: [UInt8] = [1, 2, 3]
        let address = bytes.withUnsafeBytes { $0.baseAddress }
        bytes.wipe()
        #expect(bytes == [0, 0, 0])
        #expect(bytes.withUnsafeBytes { $0.baseAddress } == address)
        var data = Data([1, 2, 3])
        data.wipe()
        #expect(data == Data([0, 0, 0]))
    }

    @Test func opensAnEnvelopeWithItsKeyOnly() throws {
        let key = SymmetricKey(size: .bits256)
        let envelope = try Envelope(.key, head: [1], content: [7, 8, 9], with: key)
        #expect(envelope.open(with: key) { Array($0) } == [7, 8, 9])
        #expect(envelope.open(with: SymmetricKey(size: .bits256)) { Array($0) } == nil)
    }

    @Test func decodesAnEncodedKey() throws {
        let key = SymmetricKey(size: .bits256)
        let line = KeyText.bytes(of: key)
        #expect(KeyText.keys(in: line) == [key])
        #expect(String(decoding: line, as: UTF8.self).hasPrefix("sso-agent-key-1 "))
    }

    /// The last character of 32 bytes in base64 has two unused bits: all four values decode to the same key.
    @Test(arguments: 0..<16 as Range<UInt8>) func detectsAnyFlippedBitOfAnEncodedKey(lastBits: UInt8) {
        let line = KeyText.bytes(of: SymmetricKey(data: Array(repeating: 0xA5, count: 31) + [lastBits]))
        for index in line.indices {
            for bit in 0..<8 {
                var damaged = line
                damaged[index] ^= 1 << bit
                #expect(KeyText.keys(in: damaged).isEmpty, "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test func printsNothingOfARecord() {
        let record = StoredRecord(
            key: RecordKey(group: "g", kind: .refreshToken, key: "alice"), body: Array("top secret".utf8))
        var dumped = ""
        dump([record], to: &dumped)
        let bytes = "\(Array("top".utf8))".dropFirst().dropLast()
        for text in ["\(record)", String(reflecting: [record]), dumped] {
            #expect(!text.contains("secret") && !text.contains("alice") && !text.contains(bytes))
        }
    }
}
