internal import Foundation
internal import TestSupport
internal import Testing

/// What is shipped beside the executables.
@Suite(.bounded) struct PackagingTests {
    private static let unit = PackageFolder.path("packaging/systemd/sso-agent.service")

    private static var hasSystemd: Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/systemd-analyze") }
    }

    @Test(.enabled(if: hasSystemd, "there is no systemd-analyze")) func isolatesTheServiceOfTheUser() async throws {
        let answer = try await analyze(["security", "--offline=yes", "--no-pager", "--threshold=17", Self.unit])
        // The threshold is ten times the exposure level.
        #expect(answer.status == 0, "\(answer.output)\(answer.errors)")
        #expect(answer.output.contains("Overall exposure level"))
    }

    @Test(.enabled(if: hasSystemd, "there is no systemd-analyze")) func hasAUnitThatSystemdUnderstands() async throws {
        let answer = try await analyze(["verify", Self.unit])
        // The executable is not installed where the tests run.
        let problems = answer.errors.split(separator: "\n").filter { !$0.contains("is not executable") }
        #expect(problems.filter { $0.contains("sso-agent") }.isEmpty, "\(answer.errors)")
    }

    /// Every package of the build is in the manifest with one version, so that a release has the same sources everywhere.
    @Test func namesAnExactVersionOfEveryPackage() throws {
        let manifest = try String(contentsOfFile: PackageFolder.path("Package.swift"), encoding: .utf8)
        let lines = manifest.split(separator: "\n").filter { $0.contains(".package(url:") }
        #expect(lines.allSatisfy { $0.contains("exact: \"") })
        struct Resolved: Decodable {
            struct Pin: Decodable {
                struct State: Decodable { let version: String }
                let identity: String
                let state: State
            }
            let pins: [Pin]
        }
        let resolved = try Data(contentsOf: URL(filePath: PackageFolder.path("Package.resolved")))
        for pin in try JSONDecoder().decode(Resolved.self, from: resolved).pins {
            #expect(
                lines.contains { $0.contains("/\(pin.identity)\"") && $0.contains("exact: \"\(pin.state.version)\"") },
                "\(pin.identity) \(pin.state.version)")
        }
    }

    private func analyze(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let folder = try TemporaryFolder()
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.path,
            "HOME": folder.path,
        ]
        return try await TestProcess(
            "/usr/bin/env", ["systemd-analyze", "--user"] + arguments, environment: environment
        ).finish()
    }
}
