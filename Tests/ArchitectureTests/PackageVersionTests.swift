internal import Foundation
internal import TestSupport
internal import Testing

/// What packages for distributions are made from: one version, and the SDK's own manifest.
@Suite(.bounded) struct PackageVersionTests {
    /// `--version`, the packages, the bill of materials and the changelog have the version of one line in Sources.
    @Test func namesOneVersion() async throws {
        let answer = try await TestProcess(PackageFolder.path("packaging/version"), []).finish()
        let version = answer.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(answer.status == 0 && version.wholeMatch(of: /\d+\.\d+\.\d+/) != nil, "\(answer)")
        let declaration = try #require(PackageTree.text("Sources/TokenModel/Requests/StatusRequests.swift"))
        #expect(declaration.contains("package static let text = \"\(version)\""))
        // The first section of the changelog is that of the version: "Unreleased: 0.1.0", or "0.1.0 (2026-12-01)" in a release.
        let section = try #require(
            PackageTree.text("CHANGELOG.md")?.split(separator: "\n").first { $0.hasPrefix("## ") })
        #expect(section == "## Unreleased: \(version)" || section.hasPrefix("## \(version) ("), "\(section)")
    }

    /// With CDPATH, `cd` prints where it goes, and may go elsewhere.
    @Test func findsTheSourcesFromAFolderOfCDPATH() async throws {
        let environment = ProcessInfo.processInfo.environment.merging(["CDPATH": ".:/"]) { $1 }
        let answer = try await TestProcess(
            "/usr/bin/env", ["sh", "-c", "cd \"$0\" >&2 && packaging/version", PackageFolder.root.path],
            environment: environment
        ).finish()
        #expect(answer.status == 0 && answer.output.split(separator: "\n").count == 1, "\(answer)")
    }

    /// The manifest of libsso-agent-dev has the SDK's targets and their dependencies as the package's own manifest declares them.
    @Test func declaresTheSDKAsThePackageDoes() throws {
        let own = try Self.targets(in: "Package.swift")
        let sdk = try Self.targets(in: "packaging/sdk/Package.swift")
        #expect(Set(sdk.keys).isSuperset(of: ["AgentClient", "ADAL", "MSAL"]))
        for (name, target) in sdk {
            #expect(own[name] == target, "packaging/sdk/Package.swift: \(name) is another one in Package.swift")
            // What it needs is in the package too.
            for dependency in target.matches(of: /"([A-Za-z]+)"/).map({ String($0.output.1) })
            where own[dependency] != nil { #expect(sdk[dependency] != nil, "\(name) needs \(dependency)") }
        }
        #expect(sdk.values.allSatisfy { !$0.contains("package:") }, "the SDK would need other packages")
    }

    /// The declarations of the targets in a manifest, without white space, by their names.
    private static func targets(in manifest: String) throws -> [String: String] {
        let text = try #require(PackageTree.text(manifest))
        var targets: [String: String] = [:]
        for kind in [".target(", ".systemLibrary("] {
            for piece in text.components(separatedBy: kind).dropFirst() {
                var depth = 1
                let body = piece.prefix { character in
                    depth += character == "(" ? 1 : character == ")" ? -1 : 0
                    return depth > 0
                }
                let words = body.filter { !$0.isWhitespace }
                guard let name = words.firstMatch(of: /name:"([^"]+)"/)?.output.1 else { continue }
                targets[String(name)] = kind + words
            }
        }
        return targets
    }
}
