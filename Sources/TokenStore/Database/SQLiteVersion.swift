internal import CSQLite
package import TokenModel

/// The version of the system's SQLite.
///
/// With one that does not know what the store uses, each sign-in would fail, and a store that another machine has written would be taken for
/// damaged.
package enum SQLiteVersion {
    /// Checks that the system's SQLite can read and write a store.
    ///
    /// - Throws: `agentUnavailable` (-53004) with its version if it is too old.
    package static func requireSupported() throws(TokenError) {
        try requireSupported(sqlite3_libversion_number())
    }

    /// - Parameter number: a version as SQLite counts it: 3,034,001 is 3.34.1.
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

    /// That of RHEL 9: the oldest with which stores have been made and read. `sqlite_schema` is known since 3.33.
    private static let oldest: Int32 = 3_034_000
}
