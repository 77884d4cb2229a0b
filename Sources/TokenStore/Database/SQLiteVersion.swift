internal import CSQLite
package import TokenModel

/// The version of the system's SQLite.
///
/// The tables of a store are `STRICT`. An older SQLite makes no such tables, and takes a store that has them for damaged.
package enum SQLiteVersion {
    /// Checks that the system's SQLite can read and write a store.
    ///
    /// - Throws: `agentUnavailable` (-53004) with its version if it is too old.
    package static func requireSupported() throws(TokenError) {
        try requireSupported(sqlite3_libversion_number())
    }

    /// - Parameter number: a version as SQLite counts it: 3,037,000 is 3.37.0.
    static func requireSupported(_ number: Int32) throws(TokenError) {
        guard number < oldest else { return }
        throw TokenError(
            .agentUnavailable,
            "the system's SQLite is \(text(number)), and the agent needs \(text(oldest)) or later; docs/packages.md lists the systems that "
                + "have it")
    }

    private static func text(_ number: Int32) -> String {
        "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }

    private static let oldest: Int32 = 3_037_000
}
