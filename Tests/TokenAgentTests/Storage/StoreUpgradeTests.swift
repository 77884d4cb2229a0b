internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// Changes beside the records of an earlier version that could not be written again, as on a disk without room for all of them.
@Suite(.bounded) struct StoreUpgradeTests {
    private let parts = Parts()
    private let former = RecordKey(group: SharingGroup.standard.name, kind: .account, key: "alice")
    private let key = RecordKey(group: SharingGroup.standard.name, kind: .account, key: "name:alice")

    /// The agent may be killed before the upgrade can be written: the account, which has moved to its identifier, would come back under its
    /// username.
    @Test func deletesARecordUnderItsEarlierKeyToo() async throws {
        try await parts.store.commit([.put(StoredRecord(key: former, body: [1]))])
        let changes: [StoreChange] = [.delete(former), .put(StoredRecord(key: key, body: [2]))]
        parts.store.hold()
        let upgrade = await parts.write(StoreUpgrade(changes: changes, formerKeys: [key: former]))
        await parts.store.commits.next().fail()
        try await upgrade.value()
        let deletion = await parts.delete(key)
        await parts.store.commits.next().fail()
        let alone = await parts.store.commits.next()
        #expect(alone.changes == [.delete(key), .delete(former)])
        alone.succeed()
        try await deletion.value()
        #expect(parts.store.keys(of: .account).isEmpty)
        #expect(await !parts.hasUnsavedChanges)
    }

    /// What it removes is deleted under all keys.
    @Test func acknowledgesARemovalThatIsWrittenWithoutTheUpgrade() async throws {
        try await parts.signIn("alice", "1").value()
        let changes: [StoreChange] = [.delete(former), .put(StoredRecord(key: key, body: [2]))]
        parts.store.fail()
        try await parts.write(StoreUpgrade(changes: changes, formerKeys: [key: former])).value()
        parts.store.fail(false)
        parts.store.hold()
        let removal = await parts.signOut("alice")
        await parts.store.commits.next().fail()
        let alone = await parts.store.commits.next()
        parts.store.hold(false)
        parts.store.fail()
        alone.succeed()
        #expect(try await removal.value())
        #expect(parts.store.refreshTokens == [])
        #expect(await parts.hasUnsavedChanges, "the upgrade waits on")
    }
}

extension Parts {
    fileprivate func write(_ upgrade: StoreUpgrade) -> Pending<Void> {
        start { parts async throws(TokenError) in await parts.core.commits.write(upgrade) }
    }

    fileprivate func delete(_ key: RecordKey) -> Pending<Void> {
        start { parts async throws(TokenError) in try await parts.core.commits.write([.delete(key)]) }
    }
}
