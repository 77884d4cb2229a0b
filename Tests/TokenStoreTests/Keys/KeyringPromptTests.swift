internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// A keyring that asks its user for a password during a change of the key. The store is open meanwhile.
@Suite(.bounded) struct KeyringPromptTests {
    private let folder: StoreFolder
    private let keyring: PromptingKeyring

    init() async throws {
        (folder, keyring) = (try await StoreFolder.withOneRecord(), try await PromptingKeyring())
    }

    @Test func commitsWhileTheKeyringAsksItsUser() async throws {
        let store = try await opened()
        try keyring.hold("store")
        async let change: Void = store.changeKeySource(to: .secretService, passphrase: nil)
        try await keyring.waitUntilAsked("store")
        try await store.commit([.put(.sample(2))])
        #expect(await store.keyProblem() == nil && store.report.keySource == .file)
        #expect(store.unansweredKeyring?.contains(keyring.tool) == true && !store.isAskingKeyring)
        try await keyring.answer("store")
        try await change
        #expect(store.report.keySource == .secretService && store.unansweredKeyring == nil)
        try await store.commit([.put(.sample(3))])
        #expect(!folder.names.contains(KeyFile.name) && !folder.names.contains(KeyringMark.name))
        await store.close()
        #expect(try await records() == (1...3).map { StoredRecord.sample($0) })
    }

    /// The keyring has both keys until the old one is not needed any more, which is saved while commits go on, too.
    @Test func commitsWhileTheKeyringForgetsTheOldKey() async throws {
        let store = try await opened()
        try await store.changeKeySource(to: .secretService, passphrase: nil)
        try keyring.hold("store")
        async let change: Void = store.changeKeySource(to: .secretService, passphrase: nil)
        try await keyring.waitUntilAsked("store")
        try keyring.holdNext("store")
        try await keyring.answer("store")
        try await keyring.waitUntilAsked("store")
        try await store.commit([.put(.sample(2))])
        let killed = try folder.copyWithoutClosing()
        #expect(killed.names.contains(KeyringMark.name) && keyring.keyCount == 2)
        try await keyring.answer("store")
        try await change
        #expect(keyring.keyCount == 1 && store.report.notices == [])
        await store.close()
        #expect(try await records() == [.sample(1), .sample(2)])
    }

    /// KeePassXC asks its user before it replaces a key, and may get no answer.
    @Test func replacesAKeyOnlyToForgetAnotherOne() async throws {
        let store = try await opened()
        try await store.changeKeySource(to: .secretService, passphrase: nil)
        #expect(keyring.saves == 1 && !folder.names.contains(KeyringMark.name))
        // The new and the old key, and then the new one.
        try await store.changeKeySource(to: .secretService, passphrase: nil)
        #expect(keyring.saves == 3 && keyring.keyCount == 1 && !folder.names.contains(KeyringMark.name))
        await store.close()
    }

    /// The keyring has a key that the change has made by the time that the store is sealed again. The file needs none of it.
    @Test func savesAKeyInTheKeyringBesideAFileInQuarantine() async throws {
        let store = try await opened()
        let passphrase = Secret("correct horse")
        try await store.changeKeySource(to: .passphrase, passphrase: passphrase)
        let file = "\(folder.file)\(StorePaths.quarantineMark)20300317T174640Z"
        try Data("no store".utf8).write(to: URL(filePath: file))
        try await store.changeKeySource(to: .secretService, passphrase: nil, currentPassphrase: passphrase)
        #expect(store.report.keySource == .secretService && keyring.keyCount == 1)
        await store.close()
        #expect(try await records() == [.sample(1)])
    }

    /// What the keyring saves afterwards is not used, and is deleted by the next load.
    @Test(arguments: [false, true]) func locksTheStoreWhileTheKeyringAsksItsUser(isUnlocked: Bool) async throws {
        let store = try await opened()
        try keyring.hold("store")
        async let change = problem(ofChanging: store)
        try await keyring.waitUntilAsked("store")
        try await store.lock()
        if isUnlocked { #expect(try await store.load() == [.sample(1)]) }
        try await keyring.answer("store")
        let error = await change
        #expect(error?.details.nextCommand == "ssoctl key set secret-service")
        if !isUnlocked { #expect(try await store.load() == [.sample(1)]) }
        await store.waitForKeyring()
        #expect(store.report.keySource == .file && store.report.notices == [])
        #expect(keyring.keyCount == 0 && !folder.names.contains(KeyringMark.name))
        await store.close()
        #expect(try await records() == [.sample(1)])
    }

    /// Each of two changes would have the keyring replace the key of the other one.
    @Test(arguments: [KeySource.secretService, .file])
    func refusesAnotherChangeWhileTheKeyringAsksItsUser(source: KeySource) async throws {
        let store = try await opened()
        try keyring.hold("store")
        async let change: Void = store.changeKeySource(to: .secretService, passphrase: nil)
        try await keyring.waitUntilAsked("store")
        let refused = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: source, passphrase: nil)
        }
        #expect(refused?.details.nextCommand == "ssoctl key set \(source.name)")
        try await keyring.answer("store")
        try await change
        try await store.changeKeySource(to: source, passphrase: nil)
        await store.close()
        #expect(try await records() == [.sample(1)])
    }

    /// Each change is asked for while the keyring still deletes the key of the one before.
    @Test func deletesNoKeyOfALaterChange() async throws {
        let store = try await opened()
        try await store.changeKeySource(to: .secretService, passphrase: nil)
        try keyring.hold("clear")
        async let toFile: Void = store.changeKeySource(to: .file, passphrase: nil)
        try await keyring.waitUntilAsked("clear")
        async let toKeyring: Void = store.changeKeySource(to: .secretService, passphrase: nil)
        try await store.commit([.put(.sample(2))])
        try await keyring.answer("clear")
        try await toFile
        try await toKeyring
        #expect(store.report.keySource == .secretService && keyring.keyCount == 1 && store.report.notices == [])
        await store.close()
        #expect(try await records() == [.sample(1), .sample(2)])
    }

    /// The keyring forgets the old key, which removes the mark, before the deletion that is asked for meanwhile, and refuses that.
    @Test func marksAKeyThatCannotBeDeletedAfterAnEarlierChange() async throws {
        let store = try await opened()
        try await store.changeKeySource(to: .secretService, passphrase: nil)
        try keyring.hold("store")
        async let rotation: Void = store.changeKeySource(to: .secretService, passphrase: nil)
        try await keyring.waitUntilAsked("store")
        try keyring.holdNext("store")
        try await keyring.answer("store")
        try await keyring.waitUntilAsked("store")
        try keyring.refuse("clear")
        async let toFile: Void = store.changeKeySource(to: .file, passphrase: nil)
        // The change waits for the keyring when the store has the key file.
        while store.report.keySource != .file { await letOthersRun() }
        try await keyring.answer("store")
        try await rotation
        try await toFile
        #expect(store.report.notices.count == 1 && folder.names.contains(KeyringMark.name))
        await store.close()
    }

    /// The error of a change to the keyring; nil if it succeeds.
    private func problem(ofChanging store: Store) async -> TokenError? {
        do throws(TokenError) {
            try await store.changeKeySource(to: .secretService, passphrase: nil)
            return nil
        } catch {
            return error
        }
    }

    private func opened() async throws -> Store {
        let store = try folder.open(keys: KeySettings(secretTool: keyring.tool))
        _ = try await store.load()
        return store
    }

    private func records() async throws -> [StoredRecord] {
        let store = try await opened()
        let records = try await store.load()
        await store.close()
        return records
    }
}

/// A `secret-tool` whose keyring is a file, and whose commands can be made to wait for an answer.
private struct PromptingKeyring {
    private let folder: TemporaryFolder
    let tool: String

    init() async throws {
        folder = try TemporaryFolder()
        tool = try await folder.makeProgram(
            "secret-tool",
            """
            cd "\(folder.path)" || exit 2
            if [ -p "asked-$1" ]; then
                echo >"asked-$1"
                cat "answer-$1" >/dev/null
            fi
            [ ! -e "refuses-$1" ] || exit 1
            case $1 in
            store)
                cat >secret
                echo >>saved ;;
            lookup) cat secret ;;
            clear) rm secret ;;
            search) [ ! -e secret ] || echo "[/1]" ;;
            esac
            """)
    }

    /// Makes a command wait for `answer`.
    func hold(_ command: String) throws {
        for pipe in ["asked-\(command)", "answer-\(command)"] { try #require(mkfifo(folder.file(pipe), 0o600) == 0) }
    }

    /// Makes the command after the one that waits wait as well.
    func holdNext(_ command: String) throws { try #require(mkfifo(folder.file("asked-\(command)"), 0o600) == 0) }

    /// Returns when a command waits. Later ones do not.
    func waitUntilAsked(_ command: String) async throws {
        let pipe = folder.file("asked-\(command)")
        try await offPool {
            _ = try FileHandle(forReadingFrom: URL(filePath: pipe)).readToEnd()
            try FileManager.default.removeItem(atPath: pipe)
        }
    }

    func answer(_ command: String) async throws {
        let pipe = folder.file("answer-\(command)")
        try await offPool { try FileHandle(forWritingTo: URL(filePath: pipe)).close() }
    }

    /// Makes a command fail.
    func refuse(_ command: String) throws { try Data().write(to: URL(filePath: folder.file("refuses-\(command)"))) }

    /// The number of times that the keyring has saved something.
    var saves: Int { ((try? Data(contentsOf: URL(filePath: folder.file("saved")))) ?? Data()).count }

    /// The number of keys that the keyring has for the store.
    var keyCount: Int {
        let text = try? String(contentsOfFile: folder.file("secret"), encoding: .utf8)
        return text.map { $0.split(separator: "\n").count } ?? 0
    }
}
