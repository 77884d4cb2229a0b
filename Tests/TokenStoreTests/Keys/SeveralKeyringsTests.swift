internal import Crypto
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Keys of a store in several keyrings of the Secret Service, each of which may be locked. The service saves in the default one, which the
/// user can change, and returns what it finds first.
@Suite(.bounded) struct SeveralKeyringsTests {
    /// The folder of the keyrings. A file in it is the key in one of them, which is locked while there is a file with `.locked` behind the
    /// name.
    private let keyrings: TemporaryFolder
    private let folder: StoreFolder
    private let keys: KeySettings
    private var main: String { keyrings.file("main") }
    private var other: String { keyrings.file("other") }

    init() async throws {
        keyrings = try TemporaryFolder()
        folder = try await StoreFolder.withOneRecord()
        let tool = try await keyrings.makeProgram(
            "secret-tool",
            """
            cd "\(keyrings.path)" || exit 2
            status=1
            case $1 in
            store)
                [ ! -e main.locked ] || exit 1
                cat >main
                exit 0 ;;
            search)
                for key in other main; do [ ! -e $key ] || printf '[/%s]\\nlabel = sso-agent\\n' $key; done
                exit 0 ;;
            esac
            for key in other main; do
                if [ -e $key ] && [ ! -e $key.locked ]; then
                    status=0
                    [ "$1" = clear ] || exec cat $key
                    rm $key
                fi
            done
            exit $status
            """)
        keys = KeySettings(secretTool: tool)
    }

    /// The right key may be in a keyring that is locked, while another one is open, as that of the log-in.
    @Test func keepsAStoreLockedWhileAnotherKeyringAnswers() async throws {
        try await useKeyring()
        try write(SymmetricKey(size: .bits256), to: other)
        let store = try folder.open(keys: keys)
        let error = await #expect(throws: TokenError.self) { try await store.load() }
        #expect(error?.code == .storeUnavailable && error?.details.nextCommand == "ssoctl unlock")
        #expect(!folder.names.contains { $0.contains("quarantine") })
        try FileManager.default.removeItem(atPath: other)
        #expect(try await store.load() == [.sample(1)])
        await store.close()
    }

    /// The user has made another keyring the default one. Whichever key is deleted then, the store has the other one.
    @Test(arguments: ["main", "other"]) func changesNoKeyThatIsInTwoKeyrings(deleted: String) async throws {
        try await useKeyring()
        try FileManager.default.moveItem(atPath: main, toPath: other)
        let store = try folder.open(keys: keys)
        #expect(try await store.load() == [.sample(1)])
        let error = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .secretService, passphrase: nil)
        }
        #expect(error?.details.nextCommand == "ssoctl key set secret-service")
        await store.close()
        try FileManager.default.removeItem(atPath: keyrings.file(deleted))
        let again = try folder.open(keys: keys)
        #expect(try await again.load() == [.sample(1)])
        #expect(again.report.keySource == .secretService)
        await again.close()
    }

    /// It would be in the way of a key that is saved, or replaced by it: the store that it belongs to would be lost.
    @Test(arguments: [false, true]) func replacesNoKeyOfAnotherStore(isLocked: Bool) async throws {
        try write(SymmetricKey(size: .bits256), to: main)
        if isLocked { try Data().write(to: URL(filePath: main + ".locked")) }
        let before = try Data(contentsOf: URL(filePath: main))
        let store = try folder.open(keys: keys)
        #expect(try await store.load() == [.sample(1)])
        let error = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .secretService, passphrase: nil)
        }
        #expect(error?.details.nextCommand?.hasPrefix("secret-tool clear application sso-agent store ") == true)
        #expect(try Data(contentsOf: URL(filePath: main)) == before)
        #expect(store.report.keySource == .file && !folder.names.contains(KeyringMark.name))
        await store.close()
    }

    /// Nothing shows that there is a key in a locked keyring but a search.
    @Test func reportsAKeyThatIsLeftInALockedKeyring() async throws {
        try await useKeyring()
        let store = try folder.open(keys: keys)
        _ = try await store.load()
        try FileManager.default.moveItem(atPath: main, toPath: other)
        try Data().write(to: URL(filePath: other + ".locked"))
        try await store.changeKeySource(to: .file, passphrase: nil)
        #expect(store.report.notices.contains { $0.hasSuffix("unlock the keyring, and restart the agent") })
        #expect(folder.names.contains(KeyringMark.name))
        await store.close()
        try FileManager.default.removeItem(atPath: other + ".locked")
        let again = try folder.open(keys: keys)
        _ = try await again.load()
        await again.waitForKeyring()
        #expect(again.report.notices == [] && !folder.names.contains(KeyringMark.name))
        #expect(!FileManager.default.fileExists(atPath: other))
        await again.close()
    }

    @Test func changesNoKeyIfTheKeyringDoesNotReturnTheNewOne() async throws {
        let tool = try await keyrings.makeProgram("forgetful", #"[ "$1" != lookup ]"#)
        let store = try folder.open(keys: KeySettings(secretTool: tool))
        _ = try await store.load()
        await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .secretService, passphrase: nil)
        }
        #expect(store.report.keySource == .file && folder.names.contains(KeyFile.name))
        #expect(!folder.names.contains(KeyringMark.name))
        await store.close()
    }

    /// The store is open without the keyring.
    @Test func namesNoCommandThatOpensAnOpenStore() async throws {
        try Data().write(to: URL(filePath: main + ".locked"))
        let store = try folder.open(keys: keys)
        _ = try await store.load()
        let error = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .secretService, passphrase: nil)
        }
        #expect(error?.details.nextCommand == "ssoctl key set secret-service")
        await store.close()
    }

    /// The keyring was locked after the store was opened.
    @Test func namesNoCommandThatOpensAnOpenStoreWhoseKeyIsLocked() async throws {
        try await useKeyring()
        let store = try folder.open(keys: keys)
        #expect(try await store.load() == [.sample(1)])
        try Data().write(to: URL(filePath: main + ".locked"))
        let error = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .secretService, passphrase: nil)
        }
        #expect(error?.details.nextCommand == "ssoctl key set secret-service")
        await store.close()
    }

    /// The program has saved the key, and reports an error. The mark tells the next start that there is a key to delete.
    @Test func marksAKeyringThatHasKeptAKeyInSpiteOfAnError() async throws {
        let tool = try await keyrings.makeProgram(
            "failing",
            """
            case $1 in
            store)
                cat >"\(main)"
                exit 1 ;;
            search) [ ! -e "\(main)" ] || echo '[/main]' ;;
            esac
            """)
        let store = try folder.open(keys: KeySettings(secretTool: tool))
        _ = try await store.load()
        await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .secretService, passphrase: nil)
        }
        #expect(store.report.keySource == .file && folder.names.contains(KeyringMark.name))
        await store.close()
    }

    /// Has the keyring keep the key of the store.
    private func useKeyring() async throws {
        let store = try folder.open(keys: keys)
        _ = try await store.load()
        try await store.changeKeySource(to: .secretService, passphrase: nil)
        await store.close()
    }

    private func write(_ key: SymmetricKey, to path: String) throws {
        try Data(KeyText.bytes(of: key)).write(to: URL(filePath: path))
    }
}
