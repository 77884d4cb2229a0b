/// One step of a commit.
package enum StoreChange: Sendable, Equatable {
    /// Writes a record, over the one of the same key where there is one.
    case put(StoredRecord)
    /// Deletes a record; nothing happens where there is none.
    case delete(RecordKey)
    /// Deletes every record of a sharing group.
    case deleteGroup(String)
}
