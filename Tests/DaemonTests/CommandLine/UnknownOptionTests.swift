internal import TestSupport
internal import Testing

/// Options that a command does not have.
@Suite(.bounded) struct UnknownOptionTests {
    /// The value of such an option is an argument for the parser, which would be refused first, with a remedy that is wrong.
    @Test(
        arguments: [
            (["sign-in", "graph", "--scopes", "Mail.Read"], "--scopes", "--scope"),
            (["token", "--client-id", "app-1", "--scop", "User.Read"], "--scop", "--scope"),
            (["token", "graph", "--tenant-id", "contoso.com"], "--tenant-id", "--tenant"),
            (["accounts", "--clientid", "app-1"], "--clientid", "--client-id"),
            (["watch", "--acount", "alice"], "--acount", nil),
            // The name that is meant is longer.
            (["token", "--user=alice"], "--user", "--username"), (["token", "--refresh"], "--refresh", nil),
            // Nothing of sign-out is meant by it, least of all --wipe.
            (["sign-out", "alice", "--file", "x"], "--file", nil), (["--verison"], "--verison", "--version"),
            // A default subcommand takes the options of its group.
            (["app", "--json", "--grp"], "--grp", nil), (["app", "--jsn"], "--jsn", "--json"),
        ] as [([String], String, String?)])
    func areNamedWithTheOneThatWasMeant(arguments: [String], option: String, meant: String?) async throws {
        let message = "Unknown option '\(option)'" + (meant.map { ". Did you mean '\($0)'?" } ?? "")
        let plain = try await TestProcess("ssoctl", arguments.filter { $0 != "--json" }).finish()
        #expect(plain.status == 64 && plain.errors.hasPrefix("Error: \(message)\nUsage: ssoctl "), "\(plain.errors)")
        guard arguments.count > 1 else { return }
        let json = try await TestProcess("ssoctl", arguments + ["--json"]).finish()
        #expect(json.status == 64 && json.output.contains("\(message)\""), "\(json.output)")
    }

    /// What is wrong with the others is said as before.
    @Test(arguments: [
        (["token", "graph", "mail"], "is more than"), (["sign-in", "graph", "--account", "a"], "--login-hint a"),
        (["token", "--min-valid", "x"], "min-valid"), (["--generate-completion-script", "tcsh"], "tcsh"),
        (["accounts", "--", "--x"], "is more than"),
    ])
    func areNotTheOnesThatACommandHas(arguments: [String], text: String) async throws {
        let ended = try await TestProcess("ssoctl", arguments).finish()
        #expect(ended.status == 64 && ended.errors.contains(text), "\(ended.errors)")
        #expect(!ended.errors.contains("Unknown option"), "\(ended.errors)")
    }
}
