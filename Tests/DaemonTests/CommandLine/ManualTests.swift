internal import Foundation
internal import TestSupport
internal import Testing

/// The manual pages that `make man` writes.
@Suite(.bounded) struct ManualTests {
    private static let mandoc = Executable.installed("mandoc")

    /// The pages by their names, such as `ssoctl-token.1`.
    private static func pages(in folder: TemporaryFolder) async throws -> [String: String] {
        let script = PackageFolder.path("packaging/manual/generate.py")
        let ended = try await TestProcess(
            "/usr/bin/env", ["python3", "-B", script, Executable.folder.path, folder.file("man")],
            environment: ProcessInfo.processInfo.environment.merging(["SOURCE_DATE_EPOCH": "1700000000"]) { $1 }
        ).finish()
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.file("man"))
        var pages: [String: String] = [:]
        for path in paths where path.contains("/") {
            pages[URL(filePath: path).lastPathComponent] = try String(
                contentsOfFile: folder.file("man/\(path)"), encoding: .utf8)
        }
        return pages
    }

    @Test func writesAPageForEachProgramAndEachCommand() async throws {
        let pages = try await Self.pages(in: TemporaryFolder())
        let others = ["ssoctl.1", "sso-agent.1", "entra-emulator.1", "sso-agent.toml.5", "sso-agent-protocol.7"]
        let help = try await TestProcess("ssoctl", ["--help"]).finish().output
            .components(separatedBy: "SUBCOMMANDS:").dropFirst().joined()
        let commands = help.split(separator: "\n").compactMap { try? #/  ([a-z][a-z-]*)(,| ).*/#.wholeMatch(in: $0) }
            .map { "ssoctl-\($0.output.1).1" }
        #expect(commands.count > 15)
        #expect(Set(pages.keys) == Set(others + commands))
        for (name, page) in pages {
            let sections = page.split(separator: "\n").filter { $0.hasPrefix(".Sh ") }.map { $0.dropFirst(4) }
            let needed =
                name.hasSuffix(".1")
                ? ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
                : ["NAME", "DESCRIPTION", "SEE ALSO"]
            #expect(Set(needed).isSubset(of: sections.map(String.init)), "\(name): \(sections)")
            for reference in page.matches(of: #/\.(?:It )?Xr (\S+) (\d)/#) {
                let other = "\(reference.output.1).\(reference.output.2)"
                #expect(pages[other] != nil, "\(name) refers to \(other)")
            }
        }
    }

    /// An example that is broken does not run when it is copied.
    @Test func showsExamplesWithinTheWidthOfATerminal() async throws {
        let pages = try await Self.pages(in: TemporaryFolder())
        for (name, page) in pages where name.hasSuffix(".1") {
            let parts = page.components(separatedBy: "\n.Bd -literal").dropFirst()
            #expect(!parts.isEmpty && parts.allSatisfy { $0.hasPrefix("\n") }, "\(name) indents its examples")
        }
    }

    /// What the pages are made of is in them.
    @Test func hasOptionsVariablesKeysAndRequests() async throws {
        let pages = try await Self.pages(in: TemporaryFolder())
        let token = try #require(pages["ssoctl-token.1"])
        for text in [
            ".It Fl -min-valid Ar seconds", ".Op Fl -header", ".Ss Identity provider", "ssoctl token \\-\\-header",
        ] {
            #expect(token.contains(text), "\(text)")
        }
        for text in [".It Ev SSO_AGENT_SOCK\n", ".It Fl -version\n", ".It Fl h , Fl -help\n"] {
            #expect(pages["ssoctl.1"]?.contains(text) == true, "\(text)")
        }
        #expect(pages["ssoctl.1"]?.contains(".It 64\n") == true)
        #expect(pages["sso-agent.1"]?.contains(".It Fl -check-config\n") == true)
        #expect(pages["sso-agent.toml.5"]?.contains("kept_by_apps") == true)
        #expect(pages["sso-agent.toml.5"]?.contains("sharing_groups") == true)
        #expect(pages["sso-agent-protocol.7"]?.contains(".Ss acquire_token_silent\n") == true)
        #expect(pages.values.allSatisfy { $0.hasPrefix(".Dd November 14, 2023\n") })
        #expect(pages["ssoctl.1"]?.contains("Microsoft Entra") == true)
        #expect(pages["sso-agent.1"]?.contains("Microsoft Entra") == true)
        // What is escaped twice shows a backslash.
        for (name, page) in pages { #expect(!page.contains("\\\\") && !page.contains("\\(\\"), "\(name)") }
    }

    @Test(.enabled(if: mandoc != nil, "there is no mandoc")) func isWhatMandocWants() async throws {
        let (folder, mandoc) = (try TemporaryFolder(), try #require(Self.mandoc))
        for name in try await Self.pages(in: folder).keys.sorted() {
            let section = try #require(name.last)
            let path = folder.file("man/man\(section)/\(name)")
            let ended = try await TestProcess(mandoc, ["-T", "lint", path]).finish()
            // The other pages are not installed; the test above looks for them.
            let findings = (ended.output + ended.errors).split(separator: "\n").filter {
                !$0.contains("referenced manual")
            }
            #expect(findings.isEmpty, "\(name): \(findings.joined(separator: "\n"))")
        }
    }
}
