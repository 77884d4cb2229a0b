// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "small-app",
    dependencies: [.package(path: "../sso-agent")],
    targets: [
        .executableTarget(name: "small-app", dependencies: [.product(name: "MSAL", package: "sso-agent")])
    ]
)
