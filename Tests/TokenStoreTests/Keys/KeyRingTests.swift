internal import Crypto
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// The keys of the sources, with which the key of a store is wrapped.
@Suite(.bounded) struct KeyRingTests {
    /// A damaged byte of the file must not lose the only key of a store.
    @Test func findsTheKeyInAFileWithADamagedByte() throws {
        let folder = try TemporaryFolder()
        let file = KeyFile(in: folder.path)
        let key = SymmetricKey(size: .bits256)
        try file.write([key], isSettled: true)
        let bytes = try Data(contentsOf: URL(filePath: file.path))
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            try damaged.write(to: URL(filePath: file.path))
            guard case .keys(let found, _) = try file.read() else {
                Issue.record("no key with byte \(index) damaged")
                continue
            }
            #expect(found == [key], "byte \(index)")
        }
    }

    /// The command that changes the key has no effect on a store in quarantine.
    @Test func saysThatACopyOfADamagedKeyFileHelps() async throws {
        let folder = try await StoreFolder.withOneRecord()
        try Data().write(to: URL(filePath: folder.path + "/" + KeyFile.name))
        let store = try folder.open()
        #expect(try await store.load().isEmpty)
        let ending = "put the store and an undamaged copy of its key file back"
        #expect(store.report.notices.first?.hasSuffix(ending) == true, "\(store.report.notices)")
        await store.close()
    }

    /// A file that was made for the store could have thousands of wrapped keys, each of which takes as long as a passphrase.
    @Test(arguments: [(15, true), (16, false)])
    func triesALimitedNumberOfWrappedKeys(others: Int, isOpened: Bool) throws {
        let folder = try TemporaryFolder()
        let ring = KeyRing(directory: folder.path, settings: KeySettings())
        let right = try WrappedKey(.random(), generation: 1, with: ring.wrapping(of: .file))
        var wrapped = [right]
        for number in 0..<others {
            let key = KeyRing.Wrapping(source: .file, key: SymmetricKey(size: .bits256))
            wrapped.append(try WrappedKey(.random(), generation: Int64(number + 2), with: key))
        }
        let outcome = ring.open(wrapped)
        let isOpen = if case .open = outcome { true } else { false }
        #expect(isOpen == isOpened)
    }

    /// A keyring that is locked returns nothing, and may have the only key of the store.
    @Test func replacesNoKeyInAKeyringThatDoesNotAnswer() async throws {
        let folder = try TemporaryFolder()
        let stored = folder.file("stored")
        let program = try await folder.makeProgram("secret-tool", #"[ "$1" = store ] && cat >"\#(stored)""#)
        let ring = KeyRing(directory: folder.path, settings: KeySettings(secretTool: program))
        let old = KeyRing.Wrapping(source: .secretService, key: SymmetricKey(size: .bits256))
        let error = #expect(throws: TokenError.self) {
            try ring.wrapping(of: .secretService, after: old, scrypt: nil)
        }
        #expect(error?.code == .storeUnavailable)
        #expect(!FileManager.default.fileExists(atPath: stored))
    }
}
