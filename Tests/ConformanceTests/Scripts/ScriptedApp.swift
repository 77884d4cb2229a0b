internal import AgentTestSupport
internal import CompatReport
internal import EntraEmulator
internal import Foundation
internal import Testing

/// An app of a script, which uses one library and runs each step in a separate process.
struct ScriptedApp {
    let f: AgentProcessFixture
    let library: String
    var clientID = "11111111-2222-4333-8444-555555555555"
    var realm = "common"
    /// Another name of the cloud's host, in a network in which every host is the emulator.
    var host: String?

    static func msal(_ f: AgentProcessFixture, realm: String = "organizations") -> ScriptedApp {
        ScriptedApp(f: f, library: "msal", realm: realm)
    }

    static func adal(_ f: AgentProcessFixture) -> ScriptedApp { ScriptedApp(f: f, library: "adal") }

    func with(_ change: (inout ScriptedApp) -> Void) -> ScriptedApp {
        var app = self
        change(&app)
        return app
    }

    /// Runs the app for one step.
    func run(_ step: String...) async throws -> Report {
        let authority = "\(host.map { "https://\($0)" } ?? f.url)/\(realm)"
        let arguments = [library, "--client-id", clientID, "--authority", authority] + step
        let ended = try await f.run("compat-app", arguments)
        try #require(ended.status == 0, "\(arguments): \(ended.output)\(ended.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8))
    }

    /// Runs the app for one step that brings a token.
    func token(_ step: String, _ who: String) async throws -> (token: String, report: Report) {
        let report = try await run(step, who)
        return (try #require(report.token, "\(step) \(who): \(report)"), report)
    }

    /// The common script: acquires a token, lets it expire, acquires a new one, and gets that again in a process
    /// without a tenant.
    @discardableResult
    func silentScript(_ who: String, identifier: String) async throws -> Report {
        let expired = try await token("silent", who).token
        let (renewed, report) = try await f.withLongTokens { try await token("silent", who) }
        #expect(renewed != expired)
        #expect(report.identifier == identifier)
        let again = try await with { $0.realm = "common" }.token("silent", who).token
        if library == "msal" {
            #expect(again == renewed)
            #expect(report.scopes?.contains("User.Read") == true)
            #expect(report.authority?.hasSuffix("/\(try #require(report.tenant))") == true)
        }
        return report
    }
}

extension AgentProcessFixture {
    /// Starts an agent whose tokens expire within the expiration buffer of the apps, so that they count as expired at once.
    static func script(
        isOnline: Bool = false, _ change: (inout EmulatorSettings) -> Void = { _ in },
        _ body: (AgentProcessFixture) async throws -> Void
    ) async throws {
        var settings = EmulatorSettings()
        settings.accessTokenLifetime = 60
        settings.familyApps = ["family-1": "1", "family-2": "1"]
        change(&settings)
        try await AgentProcessFixture.with(settings: settings, isOnline: isOnline) { f in
            let agent = try await f.agent()
            try await body(f)
            withExtendedLifetime(agent) {}
        }
    }

    /// Lets tokens issued during `body` be valid for an hour.
    func withLongTokens<Value>(_ body: () async throws -> Value) async throws -> Value {
        emulator.control.settings.accessTokenLifetime = 3599
        defer { emulator.control.settings.accessTokenLifetime = 60 }
        return try await body()
    }

    var signIns: Int { emulator.control.counts.signIns }
}
