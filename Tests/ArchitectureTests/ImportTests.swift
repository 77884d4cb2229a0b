internal import TestSupport
internal import Testing

/// The import graph of docs/architecture.md: an edge that is not here is argued for in the commit that adds it.
@Suite(.bounded) struct ImportTests {
    static let edges: [String: Set<String>] = [
        "TokenModel": [],
        "TokenWire": [
            "CProtobufC",
            "CTokenProtos",
            "TokenModel",
        ],
        // Private files and directories, locks, and lines of text: what POSIX offers besides sockets and processes.
        "PosixFiles": ["TokenModel"],
        "AgentSocket": [
            "CAgentSystem",
            "PosixFiles",
            "TokenModel",
        ],
        "AgentClient": [
            "AgentSocket",
            // A browser that the app starts must not keep the app's files open.
            "CAgentSystem",
            "PosixFiles",
            "TokenModel",
            "TokenWire",
        ],
        // The types of Apple's that the libraries' APIs name: one module, so that an app with both libraries has one
        // `UIViewController`.
        "AppleTypes": [
            "AppKit",
            "UIKit",
            "WebKit",
        ],
        "MSALCompat": [
            "AgentClient",
            "AppKit",
            "AppleTypes",
            "TokenModel",
        ],
        // The original modules brought URLSession with them, which is a module of its own here.
        "MSAL": ["MSALCompat", "FoundationNetworking"],
        "ADALCompat": [
            "AgentClient",
            "AppleTypes",
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
            // secret-tool gets none of the agent's files.
            "CAgentSystem",
            "CSQLite",
            "Crypto",
            "CryptoExtras",
            "PosixFiles",
            "TokenModel",
        ],
        // HTTP and nothing else: the shim that loads libcurl, with secrets as `Secret`.
        "Curl": [
            "CCurl",
            "TokenModel",
        ],
        "TokenEndpoint": [
            // Which user has connected to the loopback redirect.
            "CAgentSystem",
            "Crypto",
            "Curl",
            // The listener of a loopback redirect.
            "NIOCore",
            "NIOHTTP1",
            "NIOPosix",
            "TokenModel",
        ],
        "TokenAgent": [
            "AgentSocket",
            "CAgentSystem",
            "CacheFormats",
            "Crypto",
            "Logging",
            "NIOCore",
            "NIOHTTP1",
            "NIOPosix",
            "PosixFiles",
            "TokenCache",
            "TokenEndpoint",
            "TokenModel",
            "TokenStore",
            "TokenWire",
        ],
        "AgentConfiguration": ["PosixFiles", "TokenModel"],
        "sso-agent": [
            "AgentConfiguration",
            "AgentSocket",
            "ArgumentParser",
            "Logging",
            "PosixFiles",
            "TokenAgent",
            "TokenEndpoint",
            "TokenModel",
            // What the store is opened with comes from the environment, which only main reads.
            "TokenStore",
        ],
        "ssoctl": [
            "ADALCompat",
            "AgentClient",
            "ArgumentParser",
            // It holds passphrases and whole caches: no debugger, no core dump, no echo.
            "CAgentSystem",
            "PosixFiles",
            "TokenModel",
        ],
        "EntraEmulator": [
            "CServerTLS",
            "Crypto",
            "CryptoExtras",
            "NIOCore",
            "NIOHTTP1",
            "NIOPosix",
        ],
        "entra-emulator": [
            "ArgumentParser",
            "EntraEmulator",
        ],
    ]

    /// What comes with Swift and the system, free to all.
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

    /// The graph again, as what may never be: the table above cannot grow over these.
    @Test(arguments: [
        ("TokenModel", ["TokenWire", "NIOCore", "CProtobufC", "CTokenProtos", "CSQLite", "CAgentSystem"]),
        ("TokenWire", ["AgentSocket", "NIOCore", "NIOPosix"]),
        ("PosixFiles", ["AgentSocket", "CAgentSystem", "NIOPosix"]),
        ("AgentSocket", ["TokenWire", "NIOCore", "NIOPosix"]),
        ("AgentClient", ["NIOCore", "NIOPosix", "TokenCache", "TokenEndpoint", "TokenAgent"]),
        ("AppleTypes", ["AgentClient", "TokenModel"]),
        ("MSALCompat", ["ADALCompat", "TokenWire", "TokenAgent"]),
        ("ADALCompat", ["MSALCompat", "TokenWire", "TokenAgent"]),
        (
            "CacheFormats",
            ["TokenWire", "AgentSocket", "NIOCore", "NIOPosix", "TokenEndpoint", "TokenStore"]
        ),
        ("TokenCache", ["CacheFormats", "TokenWire", "AgentSocket", "NIOCore", "NIOPosix", "TokenEndpoint"]),
        ("TokenStore", ["TokenWire", "NIOCore", "NIOPosix", "TokenEndpoint"]),
        ("Curl", ["NIOCore", "TokenEndpoint"]),
        ("TokenEndpoint", ["CCurl", "TokenCache", "TokenStore", "TokenWire"]),
        ("TokenAgent", ["AgentClient", "MSALCompat", "ADALCompat"]),
        ("sso-agent", ["AgentClient"]),
        ("ssoctl", ["TokenAgent", "CacheFormats", "TokenCache", "TokenWire"]),
        ("AgentConfiguration", ["TokenAgent"]),
        ("EntraEmulator", ["CCurl", "Curl", "TokenAgent", "TokenCache", "TokenModel"]),
    ])
    func keepsTheHalvesApart(target: String, forbidden: [String]) {
        #expect(Self.edges[target]?.isDisjoint(with: forbidden) == true)
    }

    /// What all of Foundation brings, ICU above all, was 44 of the 60 MB of `ssoctl`.
    @Test(arguments: [
        "TokenModel", "TokenWire", "PosixFiles", "AgentSocket", "AgentClient", "CacheFormats", "TokenCache",
        "TokenStore", "Curl", "TokenEndpoint", "TokenAgent", "AgentConfiguration", "sso-agent", "ssoctl",
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
    func saysWithEveryImportHowFarItReaches(folder: String) {
        for file in PackageTree.swiftFiles(folder) {
            for (number, line) in file.code {
                guard let found = ImportLine(line) else { continue }
                let isSaid = found.level != nil || found.attributes.contains("@_exported")
                #expect(isSaid, "\(file.path):\(number): import \(found.module) has no access level")
            }
        }
    }

    /// Generated C, whose names belong to the codecs.
    @Test func keepsTheGeneratedCodeInsideTheCodecs() {
        for file in PackageTree.swiftFiles("Sources") where file.target != "TokenWire" {
            #expect(!file.text.contains("Sso__"), "\(file.path)")
        }
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
