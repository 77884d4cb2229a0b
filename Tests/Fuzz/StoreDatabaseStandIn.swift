/// Replaces the type of the store's database in fuzzing, which needs SQLite. The store's other types use only its constants.
enum StoreDatabase {
    static let applicationID = 0x5353_4F41
    static let pageSize = 4096
}
