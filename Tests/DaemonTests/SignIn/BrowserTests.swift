internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// The pages of the agent and of the emulator, in a real browser that runs no scripts.
///
/// Chromium is large, so that `make test` does not install it; where it is installed (`apt-get install chromium`), these tests run.
@Suite(.bounded, .enabled(if: Chromium.isInstalled, "chromium is not installed")) struct BrowserTests {
    private func addApp(_ f: AgentProcessFixture) async throws {
        let added = try await f.run(
            "ssoctl",
            [
                "app", "add", "notes", "--client-id", "notes", "--scope", "User.Read", "--default", "--authority",
                "\(f.url)/common",
            ])
        #expect(added.status == 0, "\(added.errors)")
    }

    /// Signs in to the app in the browser.
    ///
    /// - Parameter prepare: called before, with the emulator.
    /// - Returns: what the browser has found, and how `ssoctl` has ended.
    private func signIn(
        _ steps: [String], prepare: (Emulator) -> Void
    ) async throws -> (report: Chromium.Report, ended: (status: Int32, output: String, errors: String)) {
        var outcome: (report: Chromium.Report, ended: (status: Int32, output: String, errors: String))?
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await addApp(f)
            prepare(f.emulator)
            let process = try TestProcess("ssoctl", ["sign-in", "--print-url"], environment: f.environment)
            let printed = try await process.waitForError("Waiting for the sign-in")
            let page = try #require(printed.firstMatch(of: #/http://\S+/#)).output.description
            let report = try await Chromium.visit(page, steps)
            outcome = (report, try await process.finish())
            withExtendedLifetime(agent) {}
        }
        return try #require(outcome)
    }

    @Test func signsInWithTheKeyboardAlone() async throws {
        let (report, ended) = try await signIn([
            "title Pick an account", "look", "press Tab", "press Tab", "press Enter", "title You are signed in", "look",
        ]) {
            $0.control.addUser("alice@contoso.example")
            $0.control.addUser("bob@contoso.example")
        }
        expectAccessible(report)
        #expect(
            report.looks.first?.names.sorted() == [
                "banner:", "button: Sign in", "heading: Pick an account", "link: Alice alice@contoso.example",
                "link: Bob bob@contoso.example", "main:", "textbox: Another username",
            ])
        #expect(report.looks.last?.names.sorted() == ["contentinfo:", "heading: You are signed in", "main:"])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.output.contains("bob@contoso.example"))
    }

    @Test func signsInAUserWhoIsNotListed() async throws {
        let tabs = Array(repeating: "press Tab", count: 3)
        let (report, ended) = try await signIn(
            ["title Pick an account"] + tabs
                + ["type carol@contoso.example", "press Enter", "title You are signed in"]
        ) {
            $0.control.addUser("alice@contoso.example")
            $0.control.addUser("bob@contoso.example")
        }
        #expect(report.complaints == [])
        #expect(ended.output.contains("carol@contoso.example"))
    }

    @Test func showsThatASignInHasFailed() async throws {
        let (report, ended) = try await signIn(["title Sign-in failed", "look"]) {
            $0.control.inject(
                Fault {
                    $0.endpoint = .authorize
                    $0.error = "access_denied"
                })
        }
        expectAccessible(report)
        #expect(ended.status == 1)
    }

    @Test func entersACode() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await addApp(f)
            let process = try TestProcess("ssoctl", ["sign-in", "--device-code"], environment: f.environment)
            let printed = try await process.waitForError("Waiting for the sign-in")
            let code = try #require(printed.firstMatch(of: #/(?m)^\s+([A-Z0-9]{6,})\s*$/#)).output.1
            let page = "\(f.url)/devicelogin"
            let report = try await Chromium.visit(
                page,
                [
                    "title Enter code", "look", "press Tab", "type NOSUCHONE", "press Enter", "title Unknown code",
                    "look",
                    "press Tab", "press Enter", "title Enter code", "press Tab", "type \(code)", "press Tab",
                    "type dora@contoso.example", "press Enter", "title You are signed in on your other device", "look",
                ])
            expectAccessible(
                report, complaints: ["error: Failed to load resource: the server responded with a status of 4"])
            #expect(try await process.finish().output.contains("dora@contoso.example"))
            withExtendedLifetime(agent) {}
        }
    }

    /// - Parameter complaints: the beginnings of what the browser may complain about.
    private func expectAccessible(_ report: Chromium.Report, complaints: [String] = []) {
        let unexpected = report.complaints.filter { complaint in !complaints.contains { complaint.hasPrefix($0) } }
        #expect(unexpected == [])
        #expect(!report.looks.isEmpty)
        for look in report.looks {
            #expect(look.names.count { $0.hasPrefix("heading: ") } == 1, "\(look.names)")
            // Every control has a name.
            let isNamed = look.names.allSatisfy { !["textbox:", "button:", "link:"].contains($0) }
            #expect(isNamed, "\(look.names)")
            #expect(Set(look.views.map(\.background)).count == 2, "light and dark differ")
            for view in look.views {
                #expect(view.language == "en")
                #expect(view.contrast >= 4.5, "\(view.title), \(view.scheme): WCAG 2.2, 1.4.3")
                #expect(!view.scrollsSideways, "\(view.title) at \(view.width) pixels: WCAG 2.2, 1.4.10")
                #expect(view.scripts == 0, "\(view.title)")
            }
        }
    }
}

/// A headless Chromium, which `Tests/TestSupport/python/browser.py` drives.
private enum Chromium {
    struct Report: Decodable {
        struct Look: Decodable {
            /// Role and name of each element, as assistive technology gets them.
            let names: [String]
            let views: [View]
        }
        struct View: Decodable {
            let title: String
            let language: String
            let background: String
            let contrast: Double
            let scrollsSideways: Bool
            let scripts: Int
            let scheme: String
            let width: Int
        }
        let looks: [Look]
        let complaints: [String]
    }

    static var isInstalled: Bool { Executable.isInstalled("chromium") }

    static func visit(_ page: String, _ steps: [String]) async throws -> Report {
        let script = PackageFolder.path("Tests/TestSupport/python/browser.py")
        let ended = try await TestProcess("/usr/bin/env", ["python3", script, page] + steps).finish()
        try #require(ended.status == 0, "\(ended.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8))
    }
}
