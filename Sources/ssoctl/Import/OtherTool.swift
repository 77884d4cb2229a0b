internal import AgentSocket
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Tools that keep tokens in files in plain text, where they are found without being named.
enum OtherTool: String, CaseIterable, ExpressibleByArgument {
    case azureCLI = "azure-cli"
    /// Azure Identity for Python and Java, and other programs with MSAL's extensions, where an unencrypted file was allowed.
    case azureIdentity = "azure-identity"
    /// MSAL's extensions for .NET: Azure PowerShell, Azure Identity for .NET, Azure Artifacts' credential provider.
    case msalDotNet = "msal-dotnet"

    /// The places where the tool may have caches.
    var places: [String] {
        switch self {
        case .azureCLI:
            guard let folder = AgentEnvironment.value("AZURE_CONFIG_DIR") ?? Self.home(".azure") else { return [] }
            // The second one is of versions before 2.30, which used ADAL.
            return ["\(folder)/msal_token_cache.json", "\(folder)/accessTokens.json"]
        case .azureIdentity: return Self.home(".IdentityService").map(Self.files) ?? []
        case .msalDotNet:
            let data = AgentEnvironment.value("XDG_DATA_HOME") ?? Self.home(".local/share")
            return data.map { Self.files(in: "\($0)/.IdentityService") } ?? []
        }
    }

    /// Where the caches would be, for a message.
    var usualPlace: String {
        switch self {
        case .azureCLI: "$AZURE_CONFIG_DIR or ~/.azure"
        case .azureIdentity: "~/.IdentityService"
        case .msalDotNet: "$XDG_DATA_HOME/.IdentityService or ~/.local/share/.IdentityService"
        }
    }

    /// The path of a folder in the home folder, which the tools find without `$HOME` too, as in a job of a service manager.
    private static func home(_ folder: String) -> String? {
        AgentEnvironment.current.homeFolder.map { "\($0)/\(folder)" }
    }

    /// The caches have names that programs choose.
    private static func files(in folder: String) -> [String] {
        ((try? PrivateFiles.names(in: folder)) ?? []).filter { !$0.hasPrefix(".") && !$0.hasSuffix(".lockfile") }
            .sorted().prefix(limit).map { "\(folder)/\($0)" }
    }

    private static let limit = 64
}

/// A cache of another tool in plain text.
struct FoundCache {
    let tool: OtherTool
    let file: String
    let format: FormatName
    let bytes: Int
    /// Whether its mode lets other users read it.
    let isReadableByOthers: Bool

    /// The command that imports every cache of the tool.
    var importCommand: String { CommandLineWords("ssoctl", "import", "--from", tool.rawValue).text }

    /// The command with which the user can remove the file. `ssoctl` itself removes none.
    var removeCommand: String { CommandLineWords("rm", file).text }
}

/// The caches of other tools, and the files in their places that are not used.
struct FoundCaches {
    private(set) var caches: [FoundCache] = []
    /// The caches that cannot be read, each with its file and the reason.
    private(set) var unusable: [String] = []

    init(of tools: [OtherTool] = OtherTool.allCases) {
        for tool in tools {
            for path in tool.places where FileStatus(path, followsLinks: false) != nil {
                do throws(TrustedFileError) {
                    if let cache = try Self.inspect(path, tool) { caches.append(cache) }
                } catch {
                    unusable.append("\(path) is not used: \(error)")
                }
            }
        }
    }

    /// The size up to which a file may be a cache whose sections are empty, such as that of a tool that has signed out.
    private static let maximumBytesWithoutTokens = 4096

    /// Whether a file is a JSON object whose values are empty objects and arrays, or an empty array: a cache without tokens.
    private static func hasOnlyEmptySections(_ bytes: [UInt8]) -> Bool {
        guard let tree = try? JSONReader.read(Secret(String(decoding: bytes, as: UTF8.self))) else { return false }
        switch tree {
        case .object(let sections): return sections.allSatisfy { $0.value == .object([]) || $0.value == .list([]) }
        case .list(let entries): return entries.isEmpty
        default: return false
        }
    }

    /// Returns the cache in a file; nil if it has no tokens in plain text, as the marker beside a cache in a keyring.
    private static func inspect(_ path: String, _ tool: OtherTool) throws(TrustedFileError) -> FoundCache? {
        let file = try FileDescriptor.named(path)
        let status = try FileDescriptor.attempt { () throws(SystemError) in try file.status }
        let start = try FileDescriptor.attempt { () throws(SystemError) in
            try file.readToEnd(limit: maximumBytesWithoutTokens)
        }
        guard let format = CacheDetection.format(ofFileThatBegins: start) else { return nil }
        guard status.isOwn else { throw TrustedFileError("it belongs to user \(status.owner)") }
        // A file with more bytes has tokens.
        guard status.size > maximumBytesWithoutTokens || !hasOnlyEmptySections(start) else { return nil }
        return FoundCache(
            tool: tool, file: path, format: format, bytes: status.size,
            isReadableByOthers: status.mode & 0o044 != 0)
    }
}
