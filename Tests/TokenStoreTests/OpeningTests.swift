internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

@Suite(.bounded) struct OpeningTests {
    @Test(arguments: [0o000, 0o022, 0o077, 0o777])
    func makesPrivateFilesUnderAnyUmask(mask: UInt32) async throws {
        let folder = try StoreFolder()
        // In a process of its own, since the umask applies to the process.
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String, mask = mask as UInt32] in
            umask(mode_t(mask))
            let store = try StoreFolder.open(path)
            try await store.commit([.put(.sample(1))])
            // The store is not closed, so that the log remains.
            kill(getpid(), SIGKILL)
        }
        #expect(folder.mode() == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("cache.sqlite") && names.contains("cache.sqlite-wal"))
        for name in names { #expect(folder.mode(of: name) == 0o600, "\(name)") }
    }

    @Test(arguments: ["/state", "/state/", "/state//", "/missing/state", "/missing/state/", "/missing//state//"])
    func opensTheSameDirectoryHoweverItIsWritten(name: String) async throws {
        let folder = try StoreFolder()
        let store = try StoreFolder.open(folder.root + name)
        try await store.commit([.put(.sample(1))])
        await store.close()
        let plain = folder.root + name.split(separator: "/").map { "/" + $0 }.joined()
        #expect(try TemporaryFolder.mode(of: plain) == 0o700)
        let again = try StoreFolder.open(plain)
        #expect(try await again.load() == [.sample(1)])
        await again.close()
    }

    /// With an older one, each sign-in would fail, and a store that another machine has written would be taken for damaged.
    @Test func needsAnSQLiteThatKnowsWhatTheStoreUses() throws {
        for old in [3_031_001, 3_033_000] as [Int32] {
            #expect(throws: TokenError.self) { try SQLiteVersion.requireSupported(old) }
        }
        try SQLiteVersion.requireSupported(3_034_001)
        try SQLiteVersion.requireSupported()
    }

    /// As on a file system that does not answer for a moment. A new store would take the place of the old one.
    @Test(arguments: ["", "-wal", ".new"])
    func startsNoNewStoreWhileAFileCannotBeLookedAt(suffix: String) async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        // A link to itself, which the kernel does not follow.
        let path = folder.file + suffix
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        let error = await #expect(throws: TokenError.self) { try await store.load() }
        #expect(error?.code == .storeUnavailable)
        #expect(folder.names == ["cache.sqlite\(suffix)"])
        try FileManager.default.removeItem(atPath: path)
        #expect(try await store.load() == [])
        await store.close()
    }

    /// As on a file system without modes, which ignores that they are set. A folder that is closed protects the files nevertheless.
    @Test(arguments: [0o700, 0o755]) func reportsThatOtherUsersMayReadTheFiles(mode: Int) async throws {
        let folder = try await StoreFolder.withOneRecord()
        let store = try folder.open()
        for (path, bits) in [(folder.path, mode), (folder.path + "/cache.key", 0o644)] {
            try FileManager.default.setAttributes([.posixPermissions: bits], ofItemAtPath: path)
        }
        for _ in 0..<2 {
            #expect(try await store.load() == [.sample(1)])
            let notices = store.report.notices
            #expect(notices.count == (mode == 0o700 ? 0 : 1))
            #expect(notices.allSatisfy { $0.hasPrefix("other users may be able to read \(folder.path)/cache.key") })
            try await store.lock()
        }
        await store.close()
    }

    @Test func restoresTheModeOfAFile() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.load()
        await store.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file)
        let again = try folder.open()
        #expect(folder.mode(of: "cache.sqlite") == 0o600)
        await again.close()
    }

    @Test(arguments: [0o770, 0o707, 0o722, 0o777])
    func refusesADirectoryThatOthersMayChange(mode: Int) throws {
        let folder = try StoreFolder()
        try folder.makeDirectory(mode: mode)
        let error = refusal(folder.path)
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains("chmod 700 \(folder.path)") == true)
        #expect(folder.mode(of: "cache.sqlite") == nil)
    }

    @Test func acceptsADirectoryThatOthersMayOnlyEnter() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory(mode: 0o755)
        let store = try folder.open()
        _ = try await store.load()
        #expect(folder.mode(of: "cache.sqlite") == 0o600)
        await store.close()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func refusesADirectoryOrALinkOfAnotherUser() throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        let link = folder.root + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        #expect(lchown(link, 65534, 65534) == 0)
        #expect(refusal(link)?.code == .storeUnavailable)
        #expect(lchown(link, 0, 0) == 0)
        #expect(chown(folder.path, 65534, 65534) == 0)
        #expect(refusal(link)?.code == .storeUnavailable)
        #expect(refusal(folder.path)?.message.contains("belongs to user 65534") == true)
    }

    @Test func refusesALinkInTheDatabasesPlace() throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: folder.file, withDestinationPath: folder.root + "/elsewhere")
        #expect(refusal(folder.path)?.code == .storeUnavailable)
        #expect(!FileManager.default.fileExists(atPath: folder.root + "/elsewhere"))
    }

    @Test func refusesAFileInTheDirectorysPlace() throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        #expect(FileManager.default.createFile(atPath: folder.path + "/file", contents: nil))
        #expect(refusal(folder.path + "/file")?.code == .storeUnavailable)
        #expect(refusal(folder.path + "/file/below")?.code == .storeUnavailable)
        #expect(refusal("")?.code == .storeUnavailable)
    }

    @Test func refusesASecondOwnerInThisProcess() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        let error = refusal(folder.path)
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains("in use by another process") == true)
        #expect(error?.details.nextCommand == "pgrep -a -u \(geteuid()) -x sso-agent")
        #expect(error?.message.contains("within a minute") == true, "an agent that ends by itself need not be stopped")
        try await store.commit([.put(.sample(2))])
        await store.close()
    }

    @Test func refusesASecondOwnerInAnotherProcessAlsoAfterTheFirstAttempt() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        #expect(refusal(folder.path) != nil)
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let error = #expect(throws: TokenError.self) { try StoreFolder.open(path) }
            #expect(error?.code == .storeUnavailable)
        }
        await store.close()
        let next = try folder.open()
        await next.close()
    }

    /// As on another machine with the same home folder on NFS, where the lock of a folder is the machine's own. What is read beside a process
    /// that writes may be half of a change, or have accounts that have signed out there.
    @Test func readsNothingOfADatabaseThatIsLocked() async throws {
        let folder = try await StoreFolder.withOneRecord()
        var others = try [StoreDatabase.connect(folder.file)]
        let store = try folder.open()
        for _ in 0..<2 {
            let error = await #expect(throws: TokenError.self) { try await store.load() }
            #expect(error?.code == .storeUnavailable)
            #expect(error?.message.contains("in use by another process; stop the other sso-agent, which") == true)
        }
        others.removeAll()
        #expect(try await store.load() == [.sample(1)])
        #expect(store.report.writeError == nil && store.report.notices.isEmpty)
        await store.close()
    }

    /// An agent that was killed while it changed the key has left the keys in use.
    @Test func removesTheDraftOfAKeyFile() async throws {
        let folder = try await StoreFolder.withOneRecord()
        for name in ["cache.key.new", "cache.keyring.new"] {
            #expect(FileManager.default.createFile(atPath: folder.path + "/" + name, contents: Data([1])))
        }
        let store = try folder.open()
        #expect(folder.names == ["cache.key", "cache.sqlite"])
        #expect(try await store.load() == [.sample(1)])
        await store.close()
    }

    /// Its bytes could be guessed.
    @Test func takesNoKeyFromACredentialThatIsTooShort() async throws {
        let (folder, credentials) = (try StoreFolder(), try TemporaryFolder())
        let credential = URL(filePath: credentials.file("sso-agent.key"))
        try Data(repeating: 7, count: 15).write(to: credential)
        let store = try folder.open(keys: KeySettings(credentialsDirectory: credentials.path))
        let error = await #expect(throws: TokenError.self) { try await store.load() }
        #expect(error?.code == .storeUnavailable)
        try Data(repeating: 7, count: 16).write(to: credential)
        #expect(try await store.load() == [])
        await store.close()
    }

    @Test func tellsThatItWaitsForTheKeyring() async throws {
        let (folder, keyring) = (try await StoreFolder.withOneRecord(), try TemporaryFolder())
        let (secret, prompt) = (keyring.file("secret"), keyring.file("prompt"))
        // A look-up waits until somebody reads from the pipe.
        let tool = try await keyring.makeProgram(
            "secret-tool",
            """
            case $1 in
            store) cat >"\(secret)" ;;
            lookup) [ ! -p "\(prompt)" ] || echo >"\(prompt)"; cat "\(secret)" ;;
            esac
            """)
        let store = try folder.open(keys: KeySettings(secretTool: tool))
        _ = try await store.load()
        try await store.changeKeySource(to: .secretService, passphrase: nil)
        try await store.lock()
        #expect(!store.isAskingKeyring)
        #expect(mkfifo(prompt, 0o600) == 0)
        async let records = store.load()
        while !store.isAskingKeyring { await letOthersRun() }
        let pipe = try #require(FileHandle(forReadingAtPath: prompt))
        _ = try pipe.readToEnd()
        #expect(try await records == [.sample(1)])
        #expect(!store.isAskingKeyring)
        await store.close()
    }

    /// A locked keyring may still have a key from before a change. The store is open without it, whether the keyring answers or not.
    @Test func waitsForNoKeyOfAKeyringThatItDoesNotNeed() async throws {
        let (folder, keyring) = (try await StoreFolder.withOneRecord(), try TemporaryFolder())
        let (secret, asked, answer) = (keyring.file("secret"), keyring.file("asked"), keyring.file("answer"))
        let tool = try await keyring.makeProgram(
            "secret-tool",
            """
            case $1 in
            store) [ -p "\(asked)" ] || exec cat >"\(secret)"; echo >"\(asked)"; cat "\(answer)"; exit 1 ;;
            lookup) cat "\(secret)" ;;
            clear) exit 1 ;;
            esac
            """)
        let keys = KeySettings(secretTool: tool)
        let first = try folder.open(keys: keys)
        _ = try await first.load()
        for source in [KeySource.secretService, .file] {
            try await first.changeKeySource(to: source, passphrase: nil)
        }
        await first.close()
        for pipe in [asked, answer] { #expect(mkfifo(pipe, 0o600) == 0) }
        let second = try folder.open(keys: keys)
        // The keyring is asked when the test reads from the pipe, and not before.
        #expect(try await second.load() == [.sample(1)])
        try await second.commit([.put(.sample(2))])
        try await offPool { _ = try FileHandle(forReadingFrom: URL(fileURLWithPath: asked)).readToEnd() }
        #expect(!second.isAskingKeyring)
        try await offPool { try FileHandle(forWritingTo: URL(fileURLWithPath: answer)).close() }
        await second.waitForKeyring()
        #expect(second.report.notices.contains { $0.hasSuffix("unlock the keyring, and restart the agent") })
        await second.close()
    }

    private func refusal(_ directory: String) -> TokenError? {
        #expect(throws: TokenError.self) { try StoreFolder.open(directory) }
    }
}
