internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// The names of the cache formats that are written.
enum ExportFormatName: String, ExpressibleByArgument, CaseIterable {
    case msalJSON = "msal-json"
    case adalArchive = "adal-archive"

    var value: CacheFormat { self == .msalJSON ? .msalJSON : .adalArchive }
}

/// Exports the cache in the format of another library.
struct ExportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the cache in another library's format, with refresh tokens in plain text.",
        discussion: """
            Anyone who has the file can act as every account in it. Only its owner can read it (mode 0600). Delete it \
            after use. The agent asks for a confirmation, on the terminal unless the configuration says otherwise.

            Examples:
              ssoctl export --format msal-json --include-secrets -o cache.json
            """)

    @Option(
        help: "The format: msal-json (of MSAL for Python, Go, Java, .NET and Node) or adal-archive.",
        completion: .list(ExportFormatName.allCases.map(\.rawValue)))
    var format: ExportFormatName

    @Option(help: "The sharing group.", completion: Candidates.group, transform: SharingGroup.option)
    var group = SharingGroup.standard

    @Flag(
        name: .customLong("include-secrets"),
        help: "Required; confirms that you know that the file has refresh tokens.")
    var includesSecrets = false

    @Option(name: [.customShort("o"), .customLong("output")], help: "The file to write.", completion: .file())
    var file: String

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup var output: OutputOptions

    var writesMeanwhile: Bool { true }

    struct Printout: Encodable {
        var file: String
        var bytes: Int
        /// Whether the sharing group has no accounts. The file may have tokens all the same: those that an import kept for their library.
        var hasNoAccounts = false

        enum CodingKeys: CodingKey { case file, bytes }
    }

    func validate() throws {
        guard file != "-" else { throw ValidationError("An export is written to a file only; name one with --output.") }
        guard !file.isEmpty else { throw ValidationError("--output must not be blank.") }
        guard includesSecrets else {
            throw ValidationError(
                "The file will have refresh tokens, with which anyone can act as you. To confirm that, add --include-secrets."
            )
        }
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        // Checked before the request, so that no secret leaves the agent if the file exists already.
        guard force || !PrivateFiles.commandLine.exists(file) else {
            // Nothing is replaced by a guess: the user names another file.
            throw TokenError(
                .invalidDeveloperParameter, "\(file) exists; choose another name, or add --force"
            ).suggesting(command(file: "FILE").text)
        }
        let cache = try PrivateFileWriter(file, replacing: force, .commandLine)
        var count = 0
        try await agent.exportCache(
            format.value, sharingGroup: group, includesSecrets: true,
            progress: Progress("exporting to \(file)").report
        ) { (part) throws(TokenError) in
            count += part.count
            try cache.write(part)
        }
        try cache.finish()
        // Asked for afterwards: the export is what counts, even if the agent does not list accounts here.
        let accounts = try? await agent.listAccounts(ListAccounts(clientID: nil, sharingGroup: group))
        return Printout(file: file, bytes: count, hasNoAccounts: accounts?.isEmpty == true)
    }

    /// The words of this command for another file.
    private func command(file: String) -> CommandLineWords {
        CommandLineWords(["ssoctl", "export", "--format", format.rawValue] + CommandLineWords.group(group))
            + ["--include-secrets", "--output", file]
    }

    func describe(_ done: Printout) -> String? {
        let tokens =
            done.hasNoAccounts
            ? "The sharing group \(group.name) has no accounts. The file may have tokens that were imported for export only"
            : "It has refresh tokens"
        return "Wrote \(done.file), \(done.bytes) bytes. \(tokens): delete it after use."
    }
}
