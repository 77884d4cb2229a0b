internal import TokenStore

extension RecordKey {
    static func sample(_ number: Int, group: String = "group", kind: RecordKind = .refreshToken) -> RecordKey {
        RecordKey(group: group, kind: kind, key: "key-\(number)")
    }
}

extension StoredRecord {
    static func sample(_ number: Int, group: String = "group", size: Int = 100, fill: UInt8 = 0x41) -> StoredRecord {
        StoredRecord(key: .sample(number, group: group), body: Array(repeating: fill, count: size))
    }
}
