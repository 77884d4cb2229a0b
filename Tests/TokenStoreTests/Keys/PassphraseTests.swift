internal import Crypto
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// The derivation of a key from a passphrase.
@Suite(.bounded) struct PassphraseTests {
    @Test func derivesTheKeysOfRFC7914() throws {
        // RFC 7914, section 12, third vector, with the first 32 bytes.
        let scrypt = Scrypt(logCost: 14, blockSize: 8, parallelism: 1, salt: Array("SodiumChloride".utf8))
        let key = try scrypt.key(from: Secret("pleaseletmein")).withUnsafeBytes { Array($0) }
        #expect(key.starts(with: [0x70, 0x23, 0xbd, 0xcb, 0x3a, 0xfd, 0x73, 0x48]))
    }

    /// OWASP's minimum for scrypt: N = 2^17, r = 8, p = 1.
    @Test func usesPresentParametersForANewPassphrase() {
        let scrypt = Scrypt.random()
        #expect(scrypt.logCost >= 17 && scrypt.blockSize >= 8 && scrypt.parallelism >= 1)
        #expect(!scrypt.isOutdated)
        #expect(Scrypt.random().salt != scrypt.salt)
    }

    @Test func upgradesAnEarlierDerivationWhenThePassphraseIsEntered() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        try await store.onQueue { engine throws(TokenError) in
            let salt = Array(repeating: UInt8(7), count: 16)
            let weak = Scrypt(logCost: 12, blockSize: 8, parallelism: 1, salt: salt)
            try engine.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"), scrypt: weak)
        }
        #expect(try await scrypt(of: store)?.isOutdated == true)
        await store.close()
        let stolen = try folder.copyWithoutClosing()

        let again = try folder.open(keys: KeySettings(passphrase: Secret("correct horse")))
        #expect(try await again.load() == [.sample(1)])
        #expect(try await scrypt(of: again)?.isOutdated == false)
        try await again.commit([.put(.sample(2))])
        await again.close()
        let third = try folder.open(keys: KeySettings(passphrase: Secret("correct horse")))
        #expect(try await third.load().count == 2)
        await third.close()
        // The weakly wrapped key of the old copy opens nothing of the new one.
        try SQLiteConnection(path: folder.file).execute(
            """
            ATTACH '\(stolen.file)' AS old; INSERT OR REPLACE INTO key SELECT * FROM old.key;
            INSERT OR REPLACE INTO state SELECT * FROM old.state WHERE slot = 2
            """)
        let forged = try folder.open(keys: KeySettings(passphrase: Secret("correct horse")))
        #expect(try await forged.load() == [])
        await forged.close()
    }

    /// A file may demand as much memory and time as it likes.
    @Test(arguments: [[20, 8, 1], [18, 16, 1], [17, 8, 4], [30, 1, 1], [17, 255, 1]] as [[UInt8]])
    func refusesParametersThatCostTooMuch(parameters: [UInt8]) {
        var reader = ByteReader((parameters + Array(repeating: 0, count: 16))[...])
        #expect(Scrypt(&reader) == nil)
    }

    @Test(arguments: [[16, 8, 1], [17, 8, 1], [18, 8, 1]] as [[UInt8]])
    func acceptsTheParametersOfEveryVersion(parameters: [UInt8]) {
        var reader = ByteReader((parameters + Array(repeating: 0, count: 16))[...])
        #expect(Scrypt(&reader)?.bytes.prefix(3).elementsEqual(parameters) == true)
    }

    private func scrypt(of store: Store) async throws -> Scrypt? {
        try await store.onQueue { engine throws(TokenError) in engine.wrapped?.scrypt }
    }
}
