internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

/// A store that is worse protected than the one before it is refused.
@Suite(.bounded) struct DowngradeTests {
    /// Whoever can write to the folder puts a store of version 1, with accounts of his own, in the place of the sealed one.
    @Test(arguments: [true, false])
    func refusesAnUnsealedStoreAfterASealedOne(isAccepted: Bool) async throws {
        let folder = try await StoreFolder.withOneRecord()
        try plant("store-1", in: folder)
        try await expectRefusal(in: folder, keys: KeySettings(acceptsUnsealed: isAccepted))
    }

    /// He removes `cache.key` too, so that nothing in the folder says that there was a sealed store.
    @Test func refusesAnUnsealedStoreInAnEmptiedFolder() async throws {
        let folder = try await StoreFolder.withOneRecord()
        for name in folder.names { try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)") }
        try plant("store-1", in: folder)
        try await expectRefusal(in: folder, keys: KeySettings())
    }

    /// The source has no file in the folder that could say that there was a sealed store.
    @Test func refusesAnUnsealedStoreAfterOneThatWasSealedWithAPassphrase() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let sealed = try folder.open()
        _ = try await sealed.load()
        try await sealed.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"))
        await sealed.close()
        #expect(!folder.names.contains("cache.key"))
        try plant("store-1", in: folder)
        try await expectRefusal(in: folder, keys: KeySettings(passphrase: Secret("correct horse")))
    }

    /// The file is in quarantine and unchanged, and the store is empty.
    private func expectRefusal(in folder: StoreFolder, keys: KeySettings) async throws {
        let planted = try Data(contentsOf: URL(filePath: folder.file))
        let store = try folder.open(keys: keys)
        #expect(try await store.load() == [])
        #expect(store.report.notices.first?.contains("not sealed") == true)
        let quarantined = try #require(store.report.quarantined.first)
        #expect(try Data(contentsOf: URL(filePath: "\(folder.path)/\(quarantined)")) == planted)
        await store.close()
    }

    @Test func refusesAnUnsealedStoreWhereACredentialIs() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        try plant("store-1", in: folder)
        var keys = try credential(in: folder)
        keys.acceptsUnsealed = true
        try await expectRefusal(in: folder, keys: keys)
    }

    /// A start that could not seal a store of version 1 has written the key file only.
    @Test func sealsAnUnsealedStoreWhoseSealingWasInterrupted() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        let plain = try plant("store-1", in: folder)
        let store = try folder.open(keys: KeySettings(acceptsUnsealed: true))
        _ = try await store.load()
        await store.close()
        let key = try Data(contentsOf: URL(filePath: folder.path + "/cache.key"))
        try plain.write(to: URL(filePath: folder.file))
        try (key + Data("sso-agent-unsettled\n".utf8)).write(to: URL(filePath: folder.path + "/cache.key"))
        let again = try folder.open(keys: KeySettings(acceptsUnsealed: true))
        #expect(try await again.load().count == 14)
        #expect(again.report.quarantined == [])
        await again.close()
        #expect(try Data(contentsOf: URL(filePath: folder.path + "/cache.key")) == key)
    }

    @Test func saysThatAStoreIsMissing() async throws {
        let folder = try await StoreFolder.withOneRecord()
        try FileManager.default.removeItem(atPath: folder.file)
        let store = try folder.open()
        #expect(try await store.load() == [])
        #expect(store.report.notices.first?.contains("is missing") == true)
        #expect(store.report.isNew)
        await store.close()
        let again = try folder.open()
        _ = try await again.load()
        #expect(again.report.notices == [] && !again.report.isNew)
        await again.close()
    }

    @Test func saysThatAStoreIsNew() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.load()
        #expect(store.report.isNew && store.report.notices == [])
        await store.close()
    }

    // MARK: A required source

    @Test func refusesAStoreWhoseKeyHasAnotherSource() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let store = try folder.open(keys: KeySettings(required: .passphrase))
        let refused = await #expect(throws: TokenError.self) { try await store.load() }
        #expect(refused?.code == .storeUnavailable && refused?.message.contains("requires") == true)
        #expect(store.report.quarantined == [])
        await store.close()
        let allowed = try folder.open()
        #expect(try await allowed.load().count == 1)
        await allowed.close()
    }

    @Test func refusesAnUnsealedStoreWhereASourceIsRequired() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        try plant("store-1", in: folder)
        try await expectRefusal(in: folder, keys: KeySettings(required: .file, acceptsUnsealed: true))
    }

    @Test(arguments: [true, false])
    func createsAStoreWithARequiredPassphraseOnlyWhenAsked(isEmptied: Bool) async throws {
        let folder = isEmptied ? try await StoreFolder.withOneRecord() : try StoreFolder()
        if isEmptied { try Data().write(to: URL(filePath: folder.file)) }
        let store = try folder.open(keys: KeySettings(required: .passphrase))
        let refused = await #expect(throws: TokenError.self) { try await store.load() }
        #expect(refused?.message.contains("ssoctl key set passphrase") == true)
        #expect(!folder.names.contains { $0.contains("quarantine") })
        #expect(store.report.keySource == .passphrase)
        try await store.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"))
        #expect(try await store.load() == [])
        #expect(store.report.quarantined.count == (isEmptied ? 1 : 0))
        try await store.commit([.put(.sample(1))])
        await store.close()
        let again = try folder.open(keys: KeySettings(passphrase: Secret("correct horse"), required: .passphrase))
        #expect(try await again.load().count == 1)
        await again.close()
    }

    @Test func keepsTheSourceThatIsRequired() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let store = try folder.open(keys: KeySettings(required: .file))
        _ = try await store.load()
        let refused = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"))
        }
        #expect(refused?.message.contains("--require-key-source file") == true)
        try await store.changeKeySource(to: .file, passphrase: nil)
        await store.close()
    }

    private func credential(in folder: StoreFolder) throws -> KeySettings {
        try "a key that systemd-creds has unsealed".write(
            toFile: folder.root + "/sso-agent.key", atomically: true, encoding: .utf8)
        return KeySettings(credentialsDirectory: folder.root)
    }

    /// Puts a store of another version in the place of the folder's.
    @discardableResult
    private func plant(_ name: String, in folder: StoreFolder) throws -> Data {
        let bytes = try Data(
            contentsOf: URL(filePath: PackageFolder.path("Tests/TokenStoreTests/Fixtures/\(name).sqlite")))
        try bytes.write(to: URL(filePath: folder.file))
        return bytes
    }
}
