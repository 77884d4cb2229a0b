internal import PosixFiles
internal import TokenModel

/// The result of an import, or the caches that could be imported.
struct ImportPrintout: Encodable {
    struct Counts: Encodable {
        var accounts: Int64
        var refreshTokens: Int64
        var accessTokens: Int64
        var idTokens: Int64

        static let nothing = Counts(accounts: 0, refreshTokens: 0, accessTokens: 0, idTokens: 0)

        var isNothing: Bool { accounts + refreshTokens + accessTokens + idTokens == 0 }
    }

    struct Skipped: Encodable {
        var entry: String
        var reason: String
    }

    /// A cache that could not be imported.
    struct Failed: Encodable {
        var file: String
        var name: String
        var message: String
    }

    /// A cache that was found.
    struct Cache: Encodable {
        var tool: String
        var file: String
        var format: String
        var bytes: Int
        var readableByOthers: Bool
        var importCommand: String
        var removeCommand: String
    }

    /// The numbers of imported entries; nil if the caches were only listed.
    private(set) var imported: Counts?
    private(set) var skipped: [Skipped]?
    /// The number of skipped entries that are not in the list.
    private(set) var moreSkipped: Int64?
    /// The format of a file, if it was detected from the content.
    private(set) var format: String?
    /// The caches of other tools; nil for a file that was named.
    private(set) var caches: [Cache]?

    /// The caches that could not be imported, each for a reason of its own; nil if there are none.
    private(set) var failed: [Failed]?

    /// A list of caches.
    init(caches: [FoundCache]) {
        self.caches = caches.map {
            Cache(
                tool: $0.tool.rawValue, file: $0.file, format: $0.format.rawValue, bytes: $0.bytes,
                readableByOthers: $0.isReadableByOthers, importCommand: $0.importCommand,
                removeCommand: $0.removeCommand)
        }
    }

    /// - Parameter detected: the format, if it was detected from the content.
    init(_ report: ImportCache.Report, detected: FormatName?) {
        imported = Counts(
            accounts: report.accounts, refreshTokens: report.refreshTokens, accessTokens: report.accessTokens,
            idTokens: report.idTokens)
        skipped = report.skipped.map { Skipped(entry: $0.entry, reason: $0.reason) }
        let more = report.skippedCount - Int64(report.skipped.count)
        moreSkipped = more > 0 ? more : nil
        format = detected?.rawValue
    }

    /// Adds the result of another file.
    mutating func add(_ other: ImportPrintout) {
        var sum = imported ?? .nothing
        if let counts = other.imported {
            sum.accounts += counts.accounts
            sum.refreshTokens += counts.refreshTokens
            sum.accessTokens += counts.accessTokens
            sum.idTokens += counts.idTokens
        }
        imported = sum
        skipped = (skipped ?? []) + (other.skipped ?? [])
        if let more = other.moreSkipped { moreSkipped = (moreSkipped ?? 0) + more }
    }

    /// Adds that a cache could not be imported.
    mutating func addFailure(_ error: TokenError, of cache: FoundCache) {
        imported = imported ?? .nothing
        failed = (failed ?? []) + [Failed(file: cache.file, name: error.code.name, message: error.message)]
    }

    // MARK: Text

    /// The caches, and how they are imported.
    var list: StyledText {
        guard let caches, !caches.isEmpty else { return "No caches of other tools in plain text were found." }
        let rows = caches.map { [$0.tool, $0.format, "\($0.bytes)", $0.file] }
        let commands = caches.map(\.importCommand).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let lines = warnings + ["Import with:"] + commands.map { "  \($0)" }
        return Table.text(["TOOL", "FORMAT", "BYTES", "FILE"], rows)
            + StyledText("\n" + lines.joined(separator: "\n"))
    }

    /// The counts, what was skipped, and the files that still have the tokens.
    func report(isDryRun: Bool) -> String {
        guard let imported else { return "" }
        // Numbers alone would look as if the file had tokens, and none of them had been accepted.
        if caches == nil, !hasEntries { return "Nothing to import: the file has no accounts and no tokens." }
        let counts = [
            (imported.accounts, "account"), (imported.refreshTokens, "refresh token"),
            (imported.accessTokens, "access token"), (imported.idTokens, "ID token"),
        ].map { Phrases.count($0.0, $0.1) }.joined(separator: ", ")
        var lines = ["\(isDryRun ? "Would import" : "Imported") \(counts)."]
        if let skipped, !skipped.isEmpty {
            // Each entry is on one line, whatever characters the file has in its names.
            lines += ["Skipped:"] + skipped.map { UntrustedText.clean("  \($0.entry): \($0.reason)", limit: .max) }
        }
        if let more = moreSkipped { lines.append("  … and \(more) more") }
        return (lines + warnings + (isDryRun ? [] : remains)).joined(separator: "\n")
    }

    private var warnings: [String] {
        (caches ?? []).filter(\.readableByOthers).map {
            "Other users can read \($0.file); run: \(CommandLineWords("chmod", "600", $0.file).text)"
        }
    }

    private var remains: [String] {
        guard hasEntries else { return [] }
        return (caches ?? []).filter { cache in failed?.contains { $0.file == cache.file } != true }.map {
            "\($0.file) still has tokens, in plain text. If \($0.tool) does not need them any more, run: \($0.removeCommand)"
        }
    }

    /// Whether anything was imported or skipped. Otherwise there were no tokens.
    private var hasEntries: Bool {
        imported?.isNothing == false || skipped?.isEmpty == false || moreSkipped != nil
    }
}
