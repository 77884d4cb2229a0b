package import TokenModel
package import TokenStore

/// A step from one state of a sharing group's cache to the next; the same steps go to memory and to disk.
package enum CacheChange: Sendable, Equatable {
    case save(CacheRecord)
    case remove(RecordKey, owner: OwnerID?)
    case removeEverything

    /// The step on disk.
    package func stored(in group: SharingGroup) throws(TokenError) -> StoreChange {
        switch self {
        case .save(let record): .put(try record.stored(in: group))
        case .remove(let key, _): .delete(key)
        case .removeEverything: .deleteGroup(group.name)
        }
    }
}
