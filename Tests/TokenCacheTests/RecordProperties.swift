internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Properties that hold for the bytes of a stored record, whatever they are. Shared with the fuzzer in Tests/Fuzz, so this file does not
/// import Testing.
enum RecordProperties {
    /// The kinds of records that a cache holds.
    static let kinds: [RecordKind] = [
        .account, .accessToken, .refreshToken, .idToken, .appMetadata, .accountMetadata, .currentAccount, .opaque,
    ]

    /// Returns a description of the violation; nil if there is none.
    ///
    /// - Parameter bytes: the first one selects the kind of the record, the others are its stored form.
    static func broken(_ bytes: [UInt8]) -> String? {
        guard let selector = bytes.first else { return nil }
        let kind = kinds[Int(selector) % kinds.count]
        return brokenRecord(kind, Array(bytes.dropFirst())) ?? brokenExport(kind, Array(bytes.dropFirst()))
    }

    /// A record that can be read can be stored, and is the same one when it is read again.
    private static func brokenRecord(_ kind: RecordKind, _ body: [UInt8]) -> String? {
        let stored = StoredRecord(key: RecordKey(group: SharingGroup.standard.name, kind: kind, key: "k"), body: body)
        let record = CacheRecord(stored)
        switch CacheRecord.load(stored, in: .standard) {
        case .unreadable:
            return record == nil ? nil : "\(kind) is a record and cannot be loaded"
        case .repaired(nil):
            return nil
        case .asStored(let loaded), .repaired(let loaded?), .unresolved(let loaded), .unread(let loaded):
            guard record?.kind == kind else { return "\(kind) is loaded and is no such record" }
            let again = CacheRecord(loaded.stored(in: .standard))
            return again == loaded ? nil : "\(loaded.kind) is not the same record when it is read again"
        }
    }

    /// A record of an export is one of its kind.
    private static func brokenExport(_ kind: RecordKind, _ body: [UInt8]) -> String? {
        guard let record = CacheRecord(exportedAs: kind.rawValue, body) else { return nil }
        return record.kind == kind ? nil : "\(kind) is read as \(record.kind)"
    }
}
