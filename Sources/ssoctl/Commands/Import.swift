internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Imports the cache of another library.
struct ImportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import another library's token cache, so that nobody has to sign in again.",
        discussion: """
            Formats: msal-json, of MSAL for Python, Go, Java, .NET and Node; adal-json, of ADAL for Python and Node; \
            adal-archive, a keychain item or macOS cache of ADAL for Objective-C. The format is that of the file's content. The same \
            file twice changes nothing, and a newer token is never replaced by an older one. No file is changed or removed. A cache \
            without accounts, such as {}, is no error: there is nothing to import then.

            Examples:
              ssoctl import --find                 what other tools left in plain text
              ssoctl import --from azure-cli       the caches of “az login”
              ssoctl import cache.json --dry-run   only report what a file would bring
              program | ssoctl import /dev/stdin
            """)

    @Argument(help: "The cache: a regular file, or /dev/stdin.", completion: .file())
    var file: String?

    @OptionGroup(title: "Caches of other tools") var search: CacheSearchOptions

    @Option(help: "The format of the file, instead of what its content tells.")
    var format: FormatName?

    @Option(
        help: "The sharing group to import into.", completion: Candidates.group, transform: SharingGroup.option)
    var group = SharingGroup.standard

    @Flag(name: .customLong("dry-run"), help: "Only report what would be imported.")
    var isDryRun = false

    @OptionGroup var output: OutputOptions

    var writesMeanwhile: Bool { true }

    func validate() throws {
        guard [file != nil, search.tool != nil, search.finds].filter(\.self).count == 1 else {
            throw ValidationError("Name one FILE, or give --from or --find.")
        }
        guard file != "-" else { throw ValidationError("Standard input is named /dev/stdin, and not “-”.") }
        guard format == nil || file != nil else { throw ValidationError("--format is for a FILE.") }
        guard !search.finds || !isDryRun else { throw ValidationError("--find imports nothing; leave out --dry-run.") }
    }

    func execute(_ agent: AgentClient) async throws -> ImportPrintout {
        if let file {
            do {
                return try await importFile(file, format, agent)
            } catch let error as TokenError
                where [.cacheBadFormat, PrivateFiles.commandLine.errorCode].contains(error.code)
            {
                throw CommandFailure(error.naming(file), nextCommand: next(after: error, of: file))
            }
        }
        let found = FoundCaches(of: search.tool.map { [$0] } ?? OtherTool.allCases)
        for problem in found.unusable { Terminal.printError("ssoctl: \(problem)") }
        guard let tool = search.tool else { return ImportPrintout(caches: found.caches) }
        guard !found.caches.isEmpty else {
            throw CommandFailure(
                TokenError(
                    .invalidDeveloperParameter,
                    "\(tool.rawValue) has left no tokens in plain text in \(tool.usualPlace); others, such as those in a keyring, cannot be read"
                ), nextCommand: "ssoctl import --find")
        }
        var printout = ImportPrintout(caches: found.caches)
        for cache in found.caches {
            do {
                printout.add(try await importFile(cache.file, cache.format, agent))
            } catch let error as TokenError where Self.codesOfAFile.contains(error.code) {
                // Another file may be undamaged. Without an agent, or while it is locked, none can be imported.
                printout.addFailure(error, of: cache)
                Terminal.printError(error.naming(cache.file).problem.printed(by: "ssoctl"))
            }
        }
        return printout
    }

    /// The command that helps if a file cannot be imported: the one that lets its owner read it, or the import without a format if the wrong
    /// one may have been given.
    private func next(after error: TokenError, of file: String) -> String {
        guard error.code == .cacheBadFormat else { return PrivateFiles.reading(file) ?? "ssoctl import --find" }
        return format == nil ? "ssoctl import --find" : importCommand(file)
    }

    /// The command that imports a file with the same options, and detects its format.
    private func importCommand(_ file: String) -> String {
        let options = CommandLineWords.group(group) + (isDryRun ? ["--dry-run"] : [])
        return CommandLineWords.command("import", file, options).text
    }

    /// The codes of failures that concern one file only, and not the agent.
    private static let codesOfAFile: Set<TokenError.Code> = [
        .cacheBadFormat, .frameTooLarge, .timedOut, PrivateFiles.commandLine.errorCode,
    ]

    func status(of done: ImportPrintout) -> ExitStatus { done.failed == nil ? .done : .failed }

    private func importFile(_ path: String, _ given: FormatName?, _ agent: AgentClient) async throws -> ImportPrintout {
        let file = try PrivateFileReader(path, .commandLine)
        let (format, start) = try given.map { ($0, []) } ?? detect(file, path)
        var parts = start[...]
        let progress = Progress("importing \(path)")
        let report = try await agent.importCache(
            format: format.value, sharingGroup: group, isDryRun: isDryRun
        ) { () throws(TokenError) in
            if let size = file.size, size > 0 { progress.report(Double(file.position) / Double(size)) }
            if let part = parts.popFirst() { return part }
            return try file.next()
        }
        return ImportPrintout(report, detected: given == nil ? format : nil)
    }

    /// The format of a file, and what had to be read of it.
    private func detect(_ file: PrivateFileReader, _ path: String) throws -> (FormatName, [Secret]) {
        var parts: [Secret] = []
        var beginning: [UInt8] = []
        // A pipe may bring the first bytes one by one; a file that begins with very many blanks is no cache.
        while parts.count < 64, !CacheDetection.isSufficient(beginning), let part = try file.next() {
            parts.append(part)
            beginning += part.withBytes { CacheDetection.significant($0) }
        }
        if let format = CacheDetection.format(ofFileThatBegins: beginning) { return (format, parts) }
        guard !CacheDetection.isUTF16(beginning) else {
            let name = path.hasPrefix("/dev/") ? "FILE" : path
            let conversion = CommandLineWords(
                ["iconv", "-f", "UTF-16", "-t", "UTF-8"] + (name.hasPrefix("-") ? ["--", name] : [name]))
            throw CommandFailure(
                TokenError(.cacheBadFormat, "\(path): a text in UTF-16; a cache is in UTF-8"),
                nextCommand: "\(conversion.text) | \(importCommand("/dev/stdin"))")
        }
        throw TokenError(
            .cacheBadFormat,
            "no cache that can be read: neither JSON nor a property list; one that is encrypted has to be exported by the program that wrote it"
        )
    }

    func style(_ done: ImportPrintout) -> StyledText? {
        done.imported == nil ? done.list : StyledText(done.report(isDryRun: isDryRun))
    }
}

extension TokenError {
    /// The error with the file that it is about. An error about the content does not name it: the agent sees nothing else.
    fileprivate func naming(_ file: String) -> TokenError {
        guard code != PrivateFiles.commandLine.errorCode else { return self }
        var error = self
        error.message = "\(file): \(message)"
        return error
    }
}

/// The options that say which caches of other tools are imported.
struct CacheSearchOptions: ParsableArguments {
    @Option(
        name: .customLong("from"),
        help: ArgumentHelp("Import the caches that this tool has left in plain text.", valueName: "tool"))
    var tool: OtherTool?

    @Flag(name: .customLong("find"), help: "List the caches that other tools have left in plain text; import nothing.")
    var finds = false
}
