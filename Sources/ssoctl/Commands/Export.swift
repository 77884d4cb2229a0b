internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Exports the cache in the format of another library.
struct ExportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the cache in another library's format, with refresh tokens in plain text.",
        discussion: """
            Anyone who has the file can act as every account in it. Only its owner can read it (mode 0600). Delete it \
            after use.

            Examples:
              ssoctl export --format msal-json --include-secrets -o cache.json
            """)

    @Option(
        help: "The format: msal-json (of MSAL for Python, Go, Java, .NET and Node) or adal-archive.",
        completion: .list(["msal-json", "adal-archive"]))
    var format: FormatName

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

    struct Printout: Encodable {
        var file: String
        var bytes: Int
    }

    func validate() throws {
        guard includesSecrets else {
            throw ValidationError(
                "The file will have refresh tokens, with which anyone can act as you. To confirm that, add --include-secrets."
            )
        }
        guard format != .adalJSON else { throw ValidationError("adal-json is only imported.") }
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        // Checked before the request, so that no secret leaves the agent if the file exists already.
        guard force || !PrivateFiles.commandLine.exists(file) else {
            throw TokenError(
                .invalidDeveloperParameter, "\(file) exists; choose another name, or add --force")
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
        return Printout(file: file, bytes: count)
    }

    func describe(_ done: Printout) -> String? {
        "Wrote \(done.file), \(done.bytes) bytes. It has refresh tokens: delete it after use."
    }
}
