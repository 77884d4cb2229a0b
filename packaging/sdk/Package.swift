// swift-tools-version: 6.3
// The SDK alone, as the Debian package libsso-agent-dev installs it: the modules that apps link, which need no other Swift package.
// Its targets are those of the package's own manifest; PackagingTests compares them.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
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
    ],
    targets: [
        .systemLibrary(
            name: "CProtobufC", pkgConfig: "libprotobuf-c",
            providers: [.apt(["libprotobuf-c-dev"]), .brew(["protobuf-c"])]),
        .target(name: "CTokenProtos", dependencies: ["CProtobufC"]),
        .target(name: "CAgentSystem"),
        .target(name: "TokenModel", swiftSettings: strict),
        .target(
            name: "TokenWire", dependencies: ["CProtobufC", "CTokenProtos", "TokenModel"],
            swiftSettings: strict),
        .target(name: "PosixFiles", dependencies: ["CAgentSystem", "TokenModel"], swiftSettings: strict),
        .target(
            name: "AgentSocket", dependencies: ["CAgentSystem", "PosixFiles", "TokenModel"], swiftSettings: strict),
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
    ]
)
