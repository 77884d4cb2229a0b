package import AccessPolicy
internal import PosixFiles
package import TokenModel

/// The configuration file of the agent: the tables `[network]`, `[confirmation]`, `[audit]` and `[apps]`, and the access rules `[[rule]]`.
package struct Configuration: Sendable, Equatable {
    /// The file of certificate authorities to trust instead of the system's; nil if the file does not name one.
    package private(set) var caFile: String?
    /// The URL of the proxy; nil if the file does not name one.
    package private(set) var proxy: String?
    /// The rules of the access policy, in the order of the file.
    package private(set) var rules: [PolicyRule] = []
    /// The program that asks the user to confirm a request whose app has no terminal; nil if the file does not name one.
    package private(set) var askpass: String?
    /// The place of the audit log.
    package private(set) var audit = AuditDestination.file
    /// Whether the audit log has usernames.
    package private(set) var auditsNames = false
    /// Whether apps may keep access tokens in their own memory while these hold.
    package private(set) var letsAppsKeepTokens = true

    /// The places of the audit log.
    package enum AuditDestination: String, Sendable, CaseIterable {
        /// A file in the state directory.
        case file
        /// The system's journal.
        case journal
        case off
    }

    /// The size of the largest configuration file, in bytes.
    package static let sizeLimit = 64 << 10

    /// Reads the file at a path.
    ///
    /// The file names the certificate authorities and the proxy: other users must not be able to change or replace it.
    ///
    /// - Parameter isRequired: whether a missing file is an error.
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line, and what to change.
    package init(path: String, isRequired: Bool) throws(TokenError) {
        guard isRequired || FileStatus(path) != nil else { return }
        let bytes: [UInt8]
        do throws(TrustedFileError) {
            bytes = try Self.content(of: FileDescriptor.trusted(path))
        } catch {
            throw TokenError(.invalidDeveloperParameter, "the configuration \(path) cannot be used: \(error)")
        }
        guard bytes.count <= Self.sizeLimit else {
            throw TokenError(
                .invalidDeveloperParameter,
                "the configuration \(path) cannot be read: it has more than \(Self.sizeLimit) bytes; shorten it")
        }
        do throws(TOMLError) {
            self = try Configuration(decoding: bytes)
        } catch {
            throw TokenError(.invalidDeveloperParameter, "the configuration \(path) cannot be read: \(error)")
        }
    }

    private static func content(of file: borrowing FileDescriptor) throws(TrustedFileError) -> [UInt8] {
        do throws(SystemError) {
            // One byte more than the limit shows that the file is longer.
            return try file.readToEnd(limit: sizeLimit + 1)
        } catch {
            throw TrustedFileError(error)
        }
    }

    /// Decodes the content of a file. Unknown tables and keys are errors, so that a misspelt key is not ignored.
    init(decoding bytes: some Sequence<UInt8>) throws(TOMLError) {
        let document = try TOMLDocument(decoding: bytes)
        for entry in document.entries {
            switch (entry.table, entry.key) {
            case ("network", "ca_file"): caFile = try entry.text
            case ("network", "proxy"): proxy = try entry.text
            case ("network", let key):
                throw TOMLError(entry.line, "“\(key)” is not a key of [network]; use ca_file or proxy")
            case ("confirmation", "askpass"): askpass = try Self.path(entry)
            case ("audit", "destination"): audit = try PolicyRule.choice(entry)
            case ("audit", "names"): auditsNames = try entry.flag
            case ("audit", let key):
                throw TOMLError(entry.line, "“\(key)” is not a key of [audit]; use destination or names")
            case ("confirmation", let key):
                throw TOMLError(entry.line, "“\(key)” is not a key of [confirmation]; use askpass")
            case ("apps", "keep_tokens"): letsAppsKeepTokens = try entry.flag
            case ("apps", let key):
                throw TOMLError(entry.line, "“\(key)” is not a key of [apps]; use keep_tokens")
            case ("", let key):
                throw TOMLError(entry.line, "“\(key)” is in no table; put it below the line [network] or another one")
            case ("rule", _):
                throw TOMLError(entry.line, "a rule begins with the line [[rule]]; write two pairs of brackets")
            case (let table, _):
                throw TOMLError(
                    entry.line,
                    "[\(table)] is not a table of the configuration; use [network], [confirmation], [audit] or [apps]")
            }
        }
        for element in document.elements {
            guard element.name == "rule" else {
                throw TOMLError(
                    element.line, "[[\(element.name)]] is not an array of tables of the configuration; use [[rule]]")
            }
            rules.append(try PolicyRule(element))
        }
    }

    /// The value of a key that takes the absolute path of a file.
    static func path(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        let path = try entry.text
        guard path.hasPrefix("/") else {
            throw TOMLError(
                entry.line, "“\(path)” is not an absolute path; write it from the root, as in /usr/bin/notes")
        }
        return path
    }
}
