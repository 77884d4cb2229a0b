internal import Foundation
internal import TestSupport
internal import Testing

/// What is shipped beside the executables.
@Suite(.bounded) struct PackagingTests {
    private static let unit = PackageFolder.path("packaging/systemd/sso-agent.service")

    private static let socket = PackageFolder.path("packaging/systemd/sso-agent.socket")

    private static var hasSystemd: Bool { Executable.isInstalled("systemd-analyze") }

    @Test(.enabled(if: hasSystemd, "there is no systemd-analyze")) func isolatesTheServiceOfTheUser() async throws {
        let answer = try await analyze(["security", "--offline=yes", "--no-pager", "--threshold=62", Self.unit])
        // The threshold is ten times the exposure level; docs/decisions/0039-the-unit-has-no-namespace.md has the reason for this one.
        #expect(answer.status == 0, "\(answer.output)\(answer.errors)")
        #expect(answer.output.contains("Overall exposure level"))
    }

    @Test(.enabled(if: hasSystemd, "there is no systemd-analyze")) func hasAUnitThatSystemdUnderstands() async throws {
        let answer = try await analyze(["--man=no", "verify", Self.unit, Self.socket])
        // The executable is not installed where the tests run.
        let problems = answer.errors.split(separator: "\n").filter { !$0.contains("is not executable") }
        #expect(problems.filter { $0.contains("sso-agent") }.isEmpty, "\(answer.errors)")
    }

    /// What needs a user namespace, or capabilities to drop, keeps the service from starting or from seeing who is calling.
    @Test func makesNoNamespace() throws {
        let lines = try String(contentsOfFile: Self.unit, encoding: .utf8).split(separator: "\n")
        for setting in ["Private", "Protect", "CapabilityBoundingSet", "BindPaths", "RootDirectory", "Read"] {
            #expect(!lines.contains { $0.hasPrefix(setting) }, "\(setting)")
        }
    }

    /// The agent of the user, as launchd starts it: again if it has failed, and not if it was stopped.
    @Test func hasAPropertyListForLaunchd() throws {
        let file = try Data(contentsOf: URL(filePath: PackageFolder.path("packaging/launchd/sso-agent.plist")))
        let list = try #require(PropertyListSerialization.propertyList(from: file, format: nil) as? [String: Any])
        #expect(list["Label"] as? String == "sso-agent")
        #expect(list["ProgramArguments"] as? [String] == ["/usr/local/bin/sso-agent"])
        #expect(list["RunAtLoad"] as? Bool == true)
        #expect(list["KeepAlive"] as? [String: Bool] == ["SuccessfulExit": false])
        #expect(list["Umask"] as? Int == 0o077)
    }

    /// A release has the same sources everywhere: each package of the build has a version and a commit in the list, and apps that
    /// use the SDK may have others.
    @Test func listsOneVersionOfEveryPackage() throws {
        let listed = try Self.pins("packaging/versions.json")
        #expect(listed.allSatisfy { $0.state.version != nil && $0.state.revision.count == 40 })
        let manifest = try String(contentsOfFile: PackageFolder.path("Package.swift"), encoding: .utf8)
        let lines = manifest.split(separator: "\n").filter { $0.contains(".package(url:") }
        for line in lines {
            #expect(!line.contains("exact:"), "an app may need another version")
            #expect(listed.contains { line.contains("/\($0.identity)\"") }, "\(line) is not in packaging/versions.json")
        }
        for pin in try Self.pins("Package.resolved") {
            #expect(
                listed.contains { $0.identity == pin.identity }, "\(pin.identity) is not in packaging/versions.json")
        }
    }

    /// The folder has the packages of earlier versions, one of which is a candidate for this one.
    @Test func sumsTheFilesOfThisVersion() async throws {
        let folder = try TemporaryFolder()
        let printed = try await TestProcess(PackageFolder.path("packaging/version")).finish()
        let version = try #require(printed.output.split(separator: "\n").first)
        func names(_ version: some StringProtocol) -> [String] {
            [
                "entra-emulator_\(version)_amd64.deb", "sso-agent-\(version)-1.x86_64.rpm",
                "sso-agent-\(version).spdx.json", "sso-agent-\(version).tar.gz",
            ]
        }
        for name in names(version) + names("\(version)~rc1") + names("1\(version)") + ["SHA256SUMS"] {
            try Data(name.utf8).write(to: URL(filePath: folder.file(name)))
        }
        let ended = try await TestProcess(PackageFolder.path("packaging/sums"), [folder.path]).finish()
        #expect(ended.status == 0, "\(ended.errors)")
        let sums = try String(contentsOfFile: folder.file("SHA256SUMS"), encoding: .utf8).split(separator: "\n")
        #expect(sums.map { String($0.split(separator: " ").last ?? "") } == names(version))
    }

    /// The unit would have `ExecStart=/opt/my apps/bin/sso-agent`, of which systemd starts `/opt/my`.
    @Test(arguments: ["/opt/my apps", "/opt/100%", "/opt/$HOME", "/opt/a#b", "opt"])
    func installsNothingAtAPathThatAUnitCannotName(prefix: String) async throws {
        let folder = try TemporaryFolder()
        let environment = ProcessInfo.processInfo.environment.merging([
            "PREFIX": prefix, "DESTDIR": "\(folder.path)/", "BIN": folder.path,
        ]) { $1 }
        let ended = try await TestProcess(
            PackageFolder.path("packaging/install"), ["libsso-agent-dev"], environment: environment
        ).finish()
        #expect(ended.status == 64 && ended.errors.contains("PREFIX"), "\(ended.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    private static var canInstall: Bool { ["python3", "strip"].allSatisfy(Executable.isInstalled) }

    /// The sources, and the files of who makes packages, are not installed.
    @Test(.enabled(if: canInstall, "there is no Python or strip"))
    func installsDocumentsWhoseLinksLeadToWhatIsInstalled() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("texts/completions"), withIntermediateDirectories: true)
        for name in ["ssoctl", "_ssoctl", "ssoctl.fish"] {
            try Data().write(to: URL(filePath: folder.file("texts/completions/\(name)")))
        }
        // Any programs, which are stripped of their symbols.
        for name in ["sso-agent", "ssoctl"] { _ = try await folder.copyProgram(name, from: "/bin/true") }
        let environment = ProcessInfo.processInfo.environment.merging([
            "PREFIX": "/usr", "DESTDIR": folder.file("installed"), "BIN": folder.path, "TEXTS": folder.file("texts"),
        ]) { $1 }
        let install = PackageFolder.path("packaging/install")
        let ended = try await TestProcess(install, ["sso-agent", "libsso-agent-dev"], environment: environment).finish()
        #expect(ended.status == 0, "\(ended.errors)")
        let documents = folder.file("installed/usr/share/doc")
        var links = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: documents) where name.hasSuffix(".md") {
            let place = URL(filePath: "\(documents)/\(name)").deletingLastPathComponent().path
            for link in try String(contentsOfFile: "\(documents)/\(name)", encoding: .utf8).matches(
                of: #/\]\(([^)#\s]+)/#)
            where !link.output.1.hasPrefix("http") {
                links += 1
                let exists = FileManager.default.fileExists(atPath: "\(place)/\(link.output.1)")
                #expect(exists, "\(name): there is no \(link.output.1)")
            }
        }
        #expect(links > 300)
    }

    private struct Pin: Decodable {
        struct State: Decodable {
            let revision: String
            let version: String?
        }
        let identity: String
        let state: State
    }

    private static func pins(_ path: String) throws -> [Pin] {
        struct Resolved: Decodable { let pins: [Pin] }
        let file = try Data(contentsOf: URL(filePath: PackageFolder.path(path)))
        return try JSONDecoder().decode(Resolved.self, from: file).pins
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
