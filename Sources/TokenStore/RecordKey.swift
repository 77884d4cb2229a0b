/// What names a record: unique in the store.
package struct RecordKey: Sendable, Hashable {
    /// The name of the sharing group.
    package var group: String
    package var kind: RecordKind
    /// Unique within the group and kind.
    package var key: String

    package init(group: String, kind: RecordKind, key: String) {
        self.group = group
        self.kind = kind
        self.key = key
    }
}
