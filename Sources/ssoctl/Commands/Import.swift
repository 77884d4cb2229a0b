internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Imports the cache of another library.
struct ImportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import another library's token cache.",
        discussion: """
            Formats: msal-json, of MSAL for Python, Go, Java, .NET and Node; adal-json, of ADAL for Python and Node; \
            adal-archive, a keychain item or macOS cache of ADAL for Objective-C. The same file twice changes nothing, \
            and a newer token is never replaced by an older one.
            """)

    @Option(help: "The format of the file: msal-json, adal-json or adal-archive.")
    var format: FormatName

    @Argument(help: "The cache.", completion: .file())
    var file: String

    @Option(help: "The sharing group to import into.", transform: SharingGroup.option)
    var group = SharingGroup.standard

    @Flag(name: .customLong("dry-run"), help: "Only report what would be imported.")
    var isDryRun = false

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        struct Counts: Encodable {
            var accounts: Int64
            var refreshTokens: Int64
            var accessTokens: Int64
            var idTokens: Int64
        }

        struct Skipped: Encodable {
            var entry: String
            var reason: String
        }

        var imported: Counts
        var skipped: [Skipped]
        /// The number of skipped entries that are not in the list.
        var moreSkipped: Int64?
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        let cache = try PrivateFileReader(file, .commandLine)
        let progress = Progress("importing \(file)")
        let report = try await agent.importCache(
            format: format.value, sharingGroup: group, isDryRun: isDryRun
        ) { () throws(TokenError) in
            if let size = cache.size, size > 0 { progress.report(Double(cache.position) / Double(size)) }
            return try cache.next()
        }
        let more = report.skippedCount - Int64(report.skipped.count)
        return Printout(
            imported: Printout.Counts(
                accounts: report.accounts, refreshTokens: report.refreshTokens, accessTokens: report.accessTokens,
                idTokens: report.idTokens),
            skipped: report.skipped.map { Printout.Skipped(entry: $0.entry, reason: $0.reason) },
            moreSkipped: more > 0 ? more : nil)
    }

    func describe(_ done: Printout) -> String? {
        let counts = [
            (done.imported.accounts, "account"), (done.imported.refreshTokens, "refresh token"),
            (done.imported.accessTokens, "access token"), (done.imported.idTokens, "ID token"),
        ].map { Phrases.count($0.0, $0.1) }.joined(separator: ", ")
        var lines = ["\(isDryRun ? "Would import" : "Imported") \(counts)."]
        if !done.skipped.isEmpty { lines.append("Skipped:") }
        // One line each, whatever the file has for a name.
        lines += done.skipped.map { UntrustedText.clean("  \($0.entry): \($0.reason)", limit: .max) }
        if let more = done.moreSkipped { lines.append("  … and \(more) more") }
        return lines.joined(separator: "\n")
    }
}
