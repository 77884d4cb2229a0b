// swift-tools-version: 6.3
// One section a target, in the order of the target graph in docs/architecture.md; an edge that is not
// in Tests/ArchitectureTests/ImportTests.swift fails the tests.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "sso-agent",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "TokenModel", targets: ["TokenModel"]),
        .library(name: "AgentClient", targets: ["AgentClient"]),
        .library(name: "MSALCompat", targets: ["MSALCompat"]),
        .library(name: "MSAL", targets: ["MSAL"]),
        .library(name: "ADALCompat", targets: ["ADALCompat"]),
        .library(name: "ADAL", targets: ["ADAL"]),
        .executable(name: "sso-agent", targets: ["sso-agent"]),
        .executable(name: "ssoctl", targets: ["ssoctl"]),
        .executable(name: "entra-emulator", targets: ["entra-emulator"]),
    ],
    dependencies: [
        // Ranges, for the apps that use the SDK. A release has the versions of packaging/versions.json.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto", "4.1.0"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    ],
    targets: [
        // C: what Swift cannot reach by itself.
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CProtobufC", pkgConfig: "libprotobuf-c",
            providers: [.apt(["libprotobuf-c-dev"]), .brew(["protobuf-c"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .target(name: "CTokenProtos", dependencies: ["CProtobufC"]),
        .target(name: "CAgentSystem"),
        .target(name: "CAgentSandbox"),
        // Replaces the heap of the program that links it: the agent only, never an app.
        .target(name: "CWipingHeap"),
        // Replaces the threads of tasks: the agent only, too.
        .target(name: "CTaskThreads"),
        // Loads libcurl when it is first used, so only its headers are needed: libcurl4-openssl-dev.
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        // The emulator and the tests only.
        .target(name: "CServerTLS", dependencies: ["COpenSSL"]),

        // The values, their bytes, and the socket between the two halves.
        .target(name: "TokenModel", swiftSettings: strict),
        .testTarget(name: "TokenModelTests", dependencies: ["TestSupport", "TokenModel"], swiftSettings: strict),
        .target(
            name: "TokenWire", dependencies: ["CProtobufC", "CTokenProtos", "TokenModel"],
            swiftSettings: strict),
        .testTarget(
            name: "TokenWireTests", dependencies: ["TestSupport", "TokenModel", "TokenWire"], swiftSettings: strict),
        .target(name: "PosixFiles", dependencies: ["CAgentSystem", "TokenModel"], swiftSettings: strict),
        .testTarget(
            name: "PosixFilesTests", dependencies: ["PosixFiles", "TestSupport", "TokenModel"], swiftSettings: strict),
        .target(
            name: "AgentSocket", dependencies: ["CAgentSystem", "PosixFiles", "TokenModel"], swiftSettings: strict),

        .target(name: "AccessPolicy", dependencies: ["TokenModel"], swiftSettings: strict),
        .testTarget(
            name: "AccessPolicyTests", dependencies: ["AccessPolicy", "TestSupport", "TokenModel"],
            swiftSettings: strict),

        .target(
            name: "AuditLog",
            dependencies: ["PosixFiles", "TokenModel", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),
        .testTarget(
            name: "AuditLogTests", dependencies: ["AuditLog", "TestSupport", "TokenModel"], swiftSettings: strict),

        // The apps' half.
        .target(
            name: "AgentClient",
            dependencies: ["AgentSocket", "CAgentSystem", "PosixFiles", "TokenModel", "TokenWire"],
            swiftSettings: strict),
        .target(name: "AppleTypes", swiftSettings: strict),
        .target(name: "CompatSupport", dependencies: ["AgentClient", "TokenModel"], swiftSettings: strict),
        .target(
            name: "MSALCompat", dependencies: ["AgentClient", "AppleTypes", "CompatSupport", "TokenModel"],
            swiftSettings: strict),
        .target(name: "MSAL", dependencies: ["MSALCompat"], swiftSettings: strict),
        .target(
            name: "ADALCompat", dependencies: ["AgentClient", "AppleTypes", "CompatSupport", "TokenModel"],
            swiftSettings: strict),
        .target(name: "ADAL", dependencies: ["ADALCompat"], swiftSettings: strict),

        // The agent's half.
        .target(
            name: "TokenCache",
            dependencies: ["TokenModel", "TokenStore", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),
        .testTarget(
            name: "TokenCacheTests",
            dependencies: ["CacheTestSupport", "TestSupport", "TokenCache", "TokenModel", "TokenStore", "TokenWire"],
            swiftSettings: strict),
        .target(
            name: "CacheFormats", dependencies: ["TokenCache", "TokenModel"], swiftSettings: strict),
        .testTarget(
            name: "CacheFormatsTests",
            dependencies: [
                "CacheFormats", "CacheTestSupport", "TestSupport", "TokenCache", "TokenModel", "TokenStore",
                "TokenWire",
            ], exclude: ["Fixtures"], swiftSettings: strict),
        .target(
            name: "TokenStore",
            dependencies: [
                "CAgentSystem", "CSQLite", "PosixFiles", "TokenModel",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ], swiftSettings: strict),
        .testTarget(
            name: "TokenStoreTests",
            dependencies: [
                "AgentSocket", "AgentTestSupport", "CAgentSystem", "PosixFiles", "TestSupport", "TokenModel",
                "TokenStore",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: ["Fixtures"], swiftSettings: strict),
        .target(name: "Curl", dependencies: ["CCurl", "TokenModel"], swiftSettings: strict),
        // The emulator's half too.
        .target(
            name: "ListenerSupport",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "TokenEndpoint",
            dependencies: [
                "CAgentSystem", "Curl", "ListenerSupport", "PosixFiles", "TokenModel",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "TokenEndpointTests",
            dependencies: [
                "CAgentSystem", "CCurl", "Curl", "EntraEmulator", "ListenerSupport", "TestSupport", "TokenEndpoint",
                "TokenModel",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(name: "AgentSandbox", dependencies: ["CAgentSandbox"], swiftSettings: strict),
        .testTarget(
            name: "AgentSandboxTests", dependencies: ["AgentSandbox", "TestSupport"], swiftSettings: strict),
        .target(
            name: "TokenAgent",
            dependencies: [
                "AccessPolicy", "AgentSandbox", "AgentSocket", "AuditLog", "CAgentSystem", "CacheFormats",
                "ListenerSupport", "PosixFiles", "TokenCache", "TokenEndpoint",
                "TokenModel", "TokenStore", "TokenWire",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "TokenAgentTests",
            dependencies: [
                "AccessPolicy", "AgentSocket", "AgentTestSupport", "AuditLog", "CAgentSystem", "CHeapCount",
                "CacheTestSupport",
                "TestSupport", "TokenAgent", "TokenCache", "TokenEndpoint", "TokenModel", "TokenStore", "TokenWire",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),

        .target(
            name: "AgentConfiguration", dependencies: ["AccessPolicy", "AgentSocket", "PosixFiles", "TokenModel"],
            swiftSettings: strict),
        .testTarget(
            name: "AgentConfigurationTests",
            dependencies: ["AccessPolicy", "AgentConfiguration", "AgentSocket", "TestSupport", "TokenModel"],
            swiftSettings: strict),

        // Executables: wiring only.
        .executableTarget(
            name: "sso-agent",
            dependencies: [
                "AccessPolicy", "AgentConfiguration", "AgentSandbox", "AgentSocket", "AuditLog", "CAgentSystem",
                "CTaskThreads", "CWipingHeap", "PosixFiles", "TokenAgent", "TokenEndpoint", "TokenModel", "TokenStore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "ssoctl",
            dependencies: [
                "AgentClient", "AgentConfiguration", "AgentSocket", "AuditLog", "CAgentSystem", "PosixFiles",
                "TokenModel",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),
        .target(
            name: "EntraEmulator",
            dependencies: [
                "CAgentSystem", "CServerTLS", "ListenerSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "entra-emulator",
            dependencies: [
                "CAgentSystem", "EntraEmulator", "PosixFiles", "TokenModel",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),

        // Examples: each a program of its own, run by ExampleTests.
        .executableTarget(
            name: "modern-notes", dependencies: ["MSAL"], path: "examples/modern-notes",
            exclude: ["README.md"], swiftSettings: strict),
        .executableTarget(
            name: "legacy-mail", dependencies: ["ADAL"], path: "examples/legacy-mail",
            exclude: ["README.md"], swiftSettings: strict),
        .executableTarget(
            name: "migration", dependencies: ["MSAL"], path: "examples/migration",
            exclude: ["README.md"], swiftSettings: strict),

        // What tests share, and tests that cross targets.
        .target(
            name: "TestSupport", dependencies: ["CAgentSystem", "Curl", "TokenModel"], path: "Tests/TestSupport",
            exclude: ["python"], swiftSettings: strict),
        .target(
            name: "CacheTestSupport", dependencies: ["TokenCache", "TokenModel", "TokenWire"],
            path: "Tests/CacheTestSupport", swiftSettings: strict),
        .target(name: "CHeapCount", path: "Tests/CHeapCount"),
        .target(name: "CStoreFaults", dependencies: ["CSQLite"], path: "Tests/CStoreFaults"),
        .target(
            name: "AgentTestSupport",
            dependencies: [
                "AccessPolicy", "AgentClient", "AgentSocket", "AuditLog", "CStoreFaults", "EntraEmulator",
                "TestSupport", "TokenAgent",
                "TokenEndpoint",
                "TokenModel", "TokenStore", "TokenWire",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], path: "Tests/AgentTestSupport", swiftSettings: strict),
        .testTarget(
            name: "SocketIntegrationTests",
            dependencies: [
                "AgentClient", "AgentSocket", "AgentTestSupport", "AuditLog", "CAgentSystem", "EntraEmulator",
                "TestSupport", "TokenAgent", "TokenModel", "TokenStore", "TokenWire",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CompatTests",
            dependencies: [
                "ADALCompat", "AgentClient", "AgentTestSupport", "CompatSupport", "EntraEmulator", "MSALCompat",
                "TestSupport", "TokenModel",
            ],
            swiftSettings: strict),
        // App code as it was written for the originals, compiled in both language modes; neither target is `strict`, as
        // apps are not. In Swift 6 the originals' completion blocks give warnings too, so only Swift 5's are errors.
        .testTarget(
            name: "Swift5AppTests", dependencies: ["ADAL", "MSAL", "TestSupport"],
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "Swift6AppTests", dependencies: ["ADAL", "MSAL", "TestSupport"],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "ADALCompat", "AgentClient", "AgentTestSupport", "CompatReport", "CompatSupport", "EntraEmulator",
                "MSALCompat", "TestSupport", "TokenModel", "compat-app", "sso-agent",
            ],
            path: "Tests/ConformanceTests", exclude: ["compat-app", "compat-report"], swiftSettings: strict),
        .target(
            name: "CompatReport", path: "Tests/ConformanceTests/compat-report", swiftSettings: strict),
        .executableTarget(
            name: "compat-app", dependencies: ["ADAL", "CompatReport", "MSAL"],
            path: "Tests/ConformanceTests/compat-app",
            swiftSettings: strict),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "AgentClient", "AgentTestSupport", "EntraEmulator", "TestSupport", "TokenModel", "TokenStore",
                "TokenWire", "entra-emulator", "sso-agent", "ssoctl",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], exclude: ["python"],
            swiftSettings: strict),
        .testTarget(
            name: "EntraEmulatorTests",
            dependencies: [
                "EntraEmulator", "TestSupport", "entra-emulator",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ], exclude: ["python"], swiftSettings: strict),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "AgentTestSupport", "EntraEmulator", "TestSupport", "entra-emulator", "legacy-mail", "migration",
                "modern-notes", "sso-agent", "ssoctl",
            ], swiftSettings: strict),
        .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: strict),
    ]
)

#if os(Linux)
    // Benchmarks: `make bench`. They use epoll and /proc.
    package.targets += [
        .target(name: "CBenchSystem", path: "Tests/Benchmarks/CBenchSystem"),
        .executableTarget(
            name: "bench-floor", dependencies: ["COpenSSL", "CSQLite"], path: "Tests/Benchmarks/bench-floor"),
        .executableTarget(
            name: "agent-bench",
            dependencies: [
                "ADALCompat", "AgentClient", "CBenchSystem", "EntraEmulator", "MSALCompat", "TokenCache", "TokenModel",
                "TokenStore", "TokenWire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ], path: "Tests/Benchmarks/agent-bench", swiftSettings: strict),
    ]
#endif
