internal import TokenModel

/// The tables of a database, as their definitions. A store's are known to the letter: a file with other ones, or with views,
/// triggers or indices, is not used.
struct StoreSchema: Equatable {
    private let definitions: Set<ExactText>

    private init(_ definitions: [String]) { self.definitions = Set(definitions.map(ExactText.init)) }

    /// Reads the schema of a database.
    ///
    /// SQLite accepts any text as the type of an index that it has made itself, so that lengths are checked before a text is read.
    ///
    /// - Throws: `cacheBadFormat` (-51201) if it cannot be read, or has too many or too long entries for a store.
    init(_ connection: SQLiteConnection) throws(TokenError) {
        let select = try connection.prepare("SELECT type, sql FROM sqlite_schema")
        var definitions: [String] = []
        while try select.step() {
            guard definitions.count < Self.maximumEntries, select.count(0) <= Self.longestType,
                select.count(1) <= Self.longestDefinition
            else { throw Self.error(connection) }
            definitions.append("\(select.text(0)): \(select.text(1))")
        }
        self.init(definitions)
    }

    var isEmpty: Bool { definitions.isEmpty }

    /// - Throws: `cacheBadFormat` (-51201) unless the database has the tables of one of these schemas and nothing else.
    static func require(_ schemas: [StoreSchema], of connection: SQLiteConnection) throws(TokenError) {
        guard schemas.contains(try StoreSchema(connection)) else { throw error(connection) }
    }

    private static func error(_ connection: SQLiteConnection) -> TokenError {
        TokenError(.cacheBadFormat, "\(connection.path) is damaged: its tables are not those of a store")
    }

    /// More than any version has.
    private static let maximumEntries = 16
    /// In bytes. SQLite's own types are "table", "index", "view" and "trigger".
    private static let longestType = 16
    /// In bytes; more than any table of a version has.
    private static let longestDefinition = 1024

    /// The tables of this version, and as a store has them that was made before 0.1.0.
    static let sealed = ["", " STRICT"].map { suffix in
        StoreSchema(StoreDatabase.tables.map { "table: \($0)\(suffix)" })
    }

    /// The table of version 1.
    static let unsealed = StoreSchema([
        """
        table: CREATE TABLE record (
            sharing_group TEXT NOT NULL,
            kind INTEGER NOT NULL,
            key TEXT NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (sharing_group, kind, key)
        ) STRICT, WITHOUT ROWID
        """
    ])
}
