internal import TestSupport
internal import Testing

/// The import graph of docs/architecture.md. A commit that adds an edge gives the reason for it.
@Suite(.bounded) struct ImportTests {
    static let edges: [String: Set<String>] = [
        "TokenModel": [],
        "TokenWire": [
            "CProtobufC",
            "CTokenProtos",
            "TokenModel",
        ],
        // Private files and directories, file locks, and lines of text.
        "PosixFiles": [
            // Reads access control lists, and starts programs.
            "CAgentSystem",
            "TokenModel",
        ],
        "AgentSocket": [
            "CAgentSystem",
            "PosixFiles",
            "TokenModel",
        ],
        "AgentClient": [
            "AgentSocket",
            // Starts a browser, and the agent, without the app's file descriptors, and reads the generation page.
            "CAgentSystem",
            "PosixFiles",
            "TokenModel",
            "TokenWire",
        ],
        // Stand-ins for Apple's types in both libraries' APIs: one module, so that an app with both has one `UIViewController`.
        "AppleTypes": [
            "AppKit",
            "UIKit",
            "WebKit",
        ],
        // What both libraries share beyond the SDK; with all of Foundation, whose objects their APIs return.
        "CompatSupport": [
            "AgentClient",
            "TokenModel",
        ],
        "MSALCompat": [
            "AgentClient",
            "AppleTypes",
            "CompatSupport",
            "TokenModel",
        ],
        // The original modules re-export URLSession, which is in a module of its own on Linux.
        "MSAL": ["MSALCompat", "FoundationNetworking"],
        "ADALCompat": [
            "AgentClient",
            "AppleTypes",
            "CompatSupport",
            // Its API names URLRequest and HTTPURLResponse.
            "FoundationNetworking",
            "TokenModel",
        ],
        "ADAL": ["ADALCompat", "FoundationNetworking"],
        "CacheFormats": [
            "TokenCache",
            "TokenModel",
        ],
        "TokenCache": [
            // Fingerprints of refresh tokens that have been replaced.
            "Crypto",
            "TokenModel",
            "TokenStore",
        ],
        "TokenStore": [
            // Starts `secret-tool` without the agent's file descriptors, and reserves room on the disk.
            "CAgentSystem",
            "CSQLite",
            "Crypto",
            "CryptoExtras",
            "PosixFiles",
            "TokenModel",
        ],
        // HTTP only. The interface to libcurl takes secrets as `Secret`.
        "Curl": [
            "CCurl",
            "TokenModel",
        ],
        // What listeners of the agent and of the emulator do when they cannot accept a connection. It reads and writes no bytes.
        "ListenerSupport": [
            "NIOCore",
            "NIOPosix",
        ],
        "TokenEndpoint": [
            // Which user has connected to the loopback redirect.
            "CAgentSystem",
            "Crypto",
            "Curl",
            "ListenerSupport",
            // The listener of a loopback redirect.
            "NIOCore",
            "NIOHTTP1",
            "NIOPosix",
            // The file of the certificate authorities.
            "PosixFiles",
            "TokenModel",
        ],
        // What the process may do after its start.
        "AgentSandbox": ["CAgentSandbox"],
        "TokenAgent": [
            "AccessPolicy",
            // The restrictions in effect, for `doctor`.
            "AgentSandbox",
            "AgentSocket",
            "AuditLog",
            "CAgentSystem",
            "CacheFormats",
            "ListenerSupport",
            "Logging",
            "NIOCore",
            // The metrics socket, for scrapers.
            "NIOHTTP1",
            "NIOPosix",
            "PosixFiles",
            "TokenCache",
            "TokenEndpoint",
            "TokenModel",
            "TokenStore",
            "TokenWire",
        ],
        // Rules about peers and requests, which the configuration has and the agent obeys.
        "AccessPolicy": ["TokenModel"],
        // The lines of the audit log, which the agent writes and `ssoctl` checks: each has the hash of the one before it.
        "AuditLog": [
            "Crypto",
            "PosixFiles",
            "TokenModel",
        ],
        "AgentConfiguration": [
            "AccessPolicy",
            // The environment, which names the files.
            "AgentSocket",
            "PosixFiles",
            "TokenModel",
        ],
        "sso-agent": [
            "AccessPolicy",
            "AgentConfiguration",
            "AgentSandbox",
            "AgentSocket",
            "ArgumentParser",
            "AuditLog",
            // Catches the signals that stop it, and releases the code of its start.
            "CAgentSystem",
            // An idle agent is not woken.
            "CTaskThreads",
            // Wipes all memory that is released.
            "CWipingHeap",
            "Logging",
            "PosixFiles",
            "TokenAgent",
            "TokenEndpoint",
            "TokenModel",
            // The store's options come from the environment, which only the executable reads.
            "TokenStore",
        ],
        "ssoctl": [
            "AgentClient",
            // The names of apps, and their values.
            "AgentConfiguration",
            // The environment, and how the user starts the agent.
            "AgentSocket",
            "ArgumentParser",
            "AuditLog",
            // Forbids debuggers and core dumps, and reads passphrases without echo.
            "CAgentSystem",
            "PosixFiles",
            "TokenModel",
        ],
        "EntraEmulator": [
            // Catches the signals that stop it.
            "CAgentSystem",
            "CServerTLS",
            "Crypto",
            "CryptoExtras",
            // The only module that it shares with the agent.
            "ListenerSupport",
            "NIOCore",
            "NIOHTTP1",
            "NIOPosix",
        ],
        "entra-emulator": [
            "ArgumentParser",
            // Keeps its sockets out of the place of a closed standard stream.
            "CAgentSystem",
            "EntraEmulator",
            // Why the output cannot be written.
            "PosixFiles",
            // The version of the package; the emulator itself has nothing of the agent's model.
            "TokenModel",
        ],
    ]

    /// The modules of Swift and the system, which every target may import.
    static let system: Set<String> = [
        "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Synchronization",
    ]

    @Test(arguments: Set(PackageTree.swiftFiles("Sources").map(\.target)).sorted())
    func importsOnlyWhatTheGraphAllows(target: String) throws {
        let allowed = try #require(Self.edges[target], "add \(target) and its edges to ImportTests.swift")
        for file in PackageTree.swiftFiles("Sources/\(target)") {
            for (number, line) in file.code {
                guard let found = ImportLine(line) else { continue }
                #expect(
                    allowed.union(Self.system).contains(found.module),
                    "\(file.path):\(number): the edge \(target) → \(found.module) is not in the import graph")
            }
        }
    }

    @Test func hasTheEdgesOfEveryTargetAndOfNoOther() {
        #expect(Set(PackageTree.swiftFiles("Sources").map(\.target)) == Set(Self.edges.keys))
    }

    @Test(arguments: edges.keys.sorted())
    func hasNoEdgeThatIsNotUsed(target: String) {
        let imports = PackageTree.swiftFiles("Sources/\(target)").flatMap { file in
            file.code.compactMap { ImportLine($0.line)?.module }
        }
        #expect(Self.edges[target]?.subtracting(imports) == [], "remove these edges of \(target)")
    }

    /// The edges that must never be added to the table above.
    @Test(arguments: [
        ("TokenModel", ["TokenWire", "NIOCore", "CProtobufC", "CTokenProtos", "CSQLite", "CAgentSystem"]),
        ("TokenWire", ["AgentSocket", "NIOCore", "NIOPosix"]),
        ("PosixFiles", ["AgentSocket", "NIOPosix"]),
        ("AgentSocket", ["TokenWire", "NIOCore", "NIOPosix"]),
        ("AgentClient", ["NIOCore", "NIOPosix", "TokenCache", "TokenEndpoint", "TokenAgent"]),
        ("AppleTypes", ["AgentClient", "TokenModel"]),
        ("CompatSupport", ["ADALCompat", "MSALCompat", "TokenWire", "TokenAgent"]),
        ("MSALCompat", ["ADALCompat", "TokenWire", "TokenAgent"]),
        ("ADALCompat", ["MSALCompat", "TokenWire", "TokenAgent"]),
        (
            "CacheFormats",
            ["TokenWire", "AgentSocket", "NIOCore", "NIOPosix", "TokenEndpoint", "TokenStore"]
        ),
        ("TokenCache", ["CacheFormats", "TokenWire", "AgentSocket", "NIOCore", "NIOPosix", "TokenEndpoint"]),
        ("TokenStore", ["TokenWire", "NIOCore", "NIOPosix", "TokenEndpoint"]),
        ("Curl", ["NIOCore", "TokenEndpoint"]),
        ("ListenerSupport", ["CAgentSystem", "NIOHTTP1", "PosixFiles", "TokenModel"]),
        ("TokenEndpoint", ["CCurl", "TokenCache", "TokenStore", "TokenWire"]),
        ("TokenAgent", ["AgentClient", "MSALCompat", "ADALCompat"]),
        ("sso-agent", ["AgentClient"]),
        ("ssoctl", ["CompatSupport", "TokenAgent", "CacheFormats", "TokenCache", "TokenWire"]),
        ("AgentConfiguration", ["TokenAgent"]),
        ("AccessPolicy", ["AgentConfiguration", "CAgentSystem", "NIOCore", "PosixFiles"]),
        ("AuditLog", ["NIOCore", "TokenAgent", "TokenWire"]),
        ("EntraEmulator", ["CCurl", "Curl", "TokenAgent", "TokenCache", "TokenModel"]),
    ])
    func keepsTheHalvesApart(target: String, forbidden: [String]) {
        #expect(Self.edges[target]?.isDisjoint(with: forbidden) == true)
    }

    /// Foundation, most of it ICU, was 44 of the 60 MB of `ssoctl`.
    @Test(arguments: [
        "TokenModel", "TokenWire", "PosixFiles", "AgentSocket", "AgentClient", "CacheFormats", "TokenCache",
        "TokenStore", "Curl", "ListenerSupport", "TokenEndpoint", "TokenAgent", "AgentConfiguration", "AccessPolicy",
        "AuditLog", "sso-agent", "ssoctl",
    ])
    func linksTheAgentAndTheCommandLineWithoutICU(target: String) {
        for file in PackageTree.swiftFiles("Sources/\(target)") {
            var before = ""
            for (number, line) in file.code {
                if ImportLine(line)?.module == "Foundation" {
                    #expect(
                        before.contains("#else"),
                        "\(file.path):\(number): import FoundationEssentials, and Foundation only where that is missing"
                    )
                }
                before = String(line)
            }
        }
    }

    @Test(arguments: ["Sources", "Tests"])
    func hasAnAccessLevelInEveryImport(folder: String) {
        for file in PackageTree.swiftFiles(folder) {
            for (number, line) in file.code {
                guard let found = ImportLine(line) else { continue }
                let hasLevel = found.level != nil || found.attributes.contains("@_exported")
                #expect(hasLevel, "\(file.path):\(number): import \(found.module) has no access level")
            }
        }
    }

    /// `Sso__` is the prefix of the C code that protobuf-c generates.
    @Test func keepsTheGeneratedCodeInsideTheCodecs() {
        let users = PackageTree.swiftFiles("Sources").filter { $0.text.contains("Sso__") }
        #expect(Set(users.map(\.target)) == ["TokenWire"], "\(users.map(\.path))")
    }

    @Test(
        arguments: [
            ("import A", "A", nil), ("internal import A", "A", "internal"), ("public import struct A.B", "A", "public"),
            ("    package import A", "A", "package"), ("@testable internal import A", "A", "internal"),
            ("@_exported public import A", "A", "public"), ("let import = 1", nil, nil), ("", nil, nil),
        ] as [(String, String?, String?)])
    func readsImportLines(line: String, module: String?, level: String?) {
        #expect(ImportLine(line[...])?.module == module)
        #expect(ImportLine(line[...])?.level == level)
    }
}

/// One `import` line.
struct ImportLine {
    var module: String
    /// `public`, `package`, `internal`, or nil when none is written.
    var level: String?
    /// Such as `@testable`.
    var attributes: [String]

    /// Nil when the line imports nothing.
    init?(_ line: Substring) {
        var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        attributes = Array(words.prefix { $0.hasPrefix("@") })
        words.removeFirst(attributes.count)
        if let first = words.first, ["public", "package", "internal", "fileprivate", "private"].contains(first) {
            level = words.removeFirst()
        }
        guard words.first == "import" else { return nil }
        words.removeFirst()
        let kinds = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        if let kind = words.first, kinds.contains(kind) { words.removeFirst() }
        guard let name = words.first else { return nil }
        module = name.split(separator: ".").first.map(String.init) ?? name
    }
}
