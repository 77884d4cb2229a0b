internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// `ssoctl import` and `ssoctl export` with caches of Microsoft's libraries.
@Suite(.bounded) struct ForeignCacheTests {
    private static let app = "11111111-2222-3333-4444-555555555555"
    private static let msal = ["1.39.0", "1.28.1", "1.24.1", "1.20.0"].map { PythonLibrary(name: "msal", version: $0) }
    private static let olderMSAL = ["1.16.0", "1.7.0", "1.0.0", "0.4.1"].map {
        PythonLibrary(name: "msal", version: $0)
    }
    private static let adal = ["1.2.7", "1.0.2"].map { PythonLibrary(name: "adal", version: $0) }

    private func json(
        _ f: AgentProcessFixture, _ arguments: [String], status: Int32 = 0
    ) async throws -> [String: Any] {
        let ended = try await f.run("ssoctl", arguments + ["--json"])
        #expect(ended.status == status, "\(arguments): \(ended.errors)\(ended.output)")
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
    }

    private func silent(_ f: AgentProcessFixture, _ user: String, _ target: [String]) async throws -> [String: Any] {
        let arguments = [
            "token", "--client-id", Self.app, "--username", user, "--authority", "\(f.emulator.url)/common",
        ]
        return try await json(f, arguments + target)
    }

    /// After an import, the agent serves the tokens that the library cached; after an export, the library serves them.
    @Test(arguments: msal)
    func importsFromMSALAndExportsToIt(library: PythonLibrary) async throws {
        try await Python.prepare()
        try await AgentProcessFixture.with(usesTLS: true) { f in
            let agent = try await f.agent()
            let users = ["alice@contoso.example", "bob@fabrikam.example"]
            let (file, exported) = (f.folder.file("in.json"), f.folder.file("out.json"))
            let tokens = try await library.run("msal_cache.py", ["sign-in", f.emulator.url, file] + users, in: f)

            let dry = try await json(f, ["import", "--format", "msal-json", file, "--dry-run"])
            let taken = try await json(f, ["import", "--format", "msal-json", file])
            #expect(Set(taken.keys) == ["imported", "skipped"])
            #expect(dry["imported"] as? [String: Int] == taken["imported"] as? [String: Int])
            let counts = try #require(taken["imported"] as? [String: Int])
            #expect(counts == ["accounts": 2, "refreshTokens": 2, "accessTokens": 2, "idTokens": 2])
            for user in users {
                let token = try await silent(f, user, ["--scope", "User.Read"])
                #expect(token["accessToken"] as? String == tokens[user] as? String)
                #expect(token["fromCache"] as? Bool == true)
            }

            let export = ["export", "--format", "msal-json", "--include-secrets", "-o", exported]
            _ = try await json(f, export)
            #expect(try TemporaryFolder.mode(of: exported) == 0o600)
            let served = try await library.run("msal_cache.py", ["silent", f.emulator.url, exported, "common"], in: f)
            for user in users {
                let answer = try #require(served[user] as? [String])
                #expect(answer.last == tokens[user] as? String)
            }
            #expect(f.emulator.control.counts[.refreshToken] == 0)

            let again = try await json(f, ["import", "--format", "msal-json", exported])
            let nothing = ["accounts": 0, "refreshTokens": 0, "accessTokens": 0, "idTokens": 0]
            #expect(again["imported"] as? [String: Int] == nothing)
            _ = try await json(f, ["import", "--format", "msal-json", exported, "--group", "other"])
            let copy = f.folder.file("copy.json")
            _ = try await json(
                f, ["export", "--format", "msal-json", "--include-secrets", "-o", copy, "--group", "other"])
            #expect(try Data(contentsOf: URL(filePath: copy)) == Data(contentsOf: URL(filePath: exported)))
            withExtendedLifetime(agent) {}
        }
    }

    /// Versions that cannot sign in with the emulator: only their caches are used.
    @Test(arguments: olderMSAL)
    func importsAndExportsCachesOfOlderMSAL(library: PythonLibrary) async throws {
        try await Python.prepare()
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let (file, exported, host) = (f.folder.file("in.json"), f.folder.file("out.json"), "login.windows.net")
            let users = ["alice@contoso.example", "bob@fabrikam.example"]
            _ = try await library.run("msal_cache.py", ["add", host, file] + users, in: f)
            let taken = try await json(f, ["import", "--format", "msal-json", file])
            let counts = try #require(taken["imported"] as? [String: Int])
            #expect(counts == ["accounts": 2, "refreshTokens": 2, "accessTokens": 2, "idTokens": 2])
            for (number, user) in users.enumerated() {
                let token = try await json(
                    f,
                    [
                        "token", "--client-id", Self.app, "--username", user, "--scope", "User.Read",
                        "--authority", "https://\(host)/common",
                    ])
                #expect(token["accessToken"] as? String == "AT-\(number)")
            }
            _ = try await json(f, ["export", "--format", "msal-json", "--include-secrets", "-o", exported])
            let found = try await library.run("msal_cache.py", ["find", host, exported], in: f)
            for (number, user) in users.enumerated() {
                #expect(found[user] as? [String] == ["AT-\(number)", "RT-\(number)"])
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// The library finds the accounts and tokens that the agent has acquired.
    @Test(arguments: msal)
    func exportsItsOwnTokensToMSAL(library: PythonLibrary) async throws {
        try await Python.prepare()
        try await AgentProcessFixture.with(usesTLS: true) { f in
            let agent = try await f.agent()
            let signIn = try await json(
                f,
                [
                    "sign-in", "--client-id", Self.app, "--scope", "User.Read", "--login-hint", "alice@contoso.example",
                    "--authority", "\(f.emulator.url)/common",
                ])
            let account = try #require(signIn["account"] as? [String: Any])
            let identifier = try #require(account["identifier"] as? String)
            let tenant = try #require(identifier.split(separator: ".").last.map(String.init))
            let file = f.folder.file("out.json")
            _ = try await json(f, ["export", "--format", "msal-json", "--include-secrets", "-o", file])
            for realm in ["common", tenant] {
                let served = try await library.run("msal_cache.py", ["silent", f.emulator.url, file, realm], in: f)
                let answer = try #require(served["alice@contoso.example"] as? [String])
                #expect(answer == [identifier, signIn["accessToken"] as? String], "\(realm)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test(arguments: adal)
    func importsFromADAL(library: PythonLibrary) async throws {
        try await Python.prepare()
        try await AgentProcessFixture.with(usesTLS: true) { f in
            let agent = try await f.agent()
            let file = f.folder.file("in.json")
            let tokens = try await library.run(
                "adal_cache.py", ["sign-in", f.emulator.url, file, "alice@contoso.example"], in: f)
            let taken = try await json(f, ["import", "--format", "adal-json", file])
            let counts = try #require(taken["imported"] as? [String: Int])
            #expect(counts == ["accounts": 1, "refreshTokens": 1, "accessTokens": 1, "idTokens": 0])
            let old = try await silent(f, "alice@contoso.example", ["--resource", "https://graph.example"])
            #expect(old["accessToken"] as? String == tokens["alice@contoso.example"] as? String)
            // An app with MSAL is signed in without a prompt too.
            let new = try await silent(f, "alice@contoso.example", ["--scope", "User.Read"])
            let account = try #require(new["account"] as? [String: Any])
            #expect(account["identifier"] is String)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func exportsArchivesThatPropertyListReadersCanRead() async throws {
        try await Python.prepare()
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try await json(
                f,
                [
                    "sign-in", "--client-id", Self.app, "--resource", "https://graph.example",
                    "--login-hint", "alicé@contoso.example", "--authority", "\(f.emulator.url)/common",
                ])
            let file = f.folder.file("out.plist")
            _ = try await json(f, ["export", "--format", "adal-archive", "--include-secrets", "-o", file])
            let found = try await Self.adal[0].run("archive.py", [file], in: f)
            let items = try #require(found["alicé@contoso.example"] as? [[String: Any]])
            #expect(
                items.contains { $0["accessToken"] is String && $0["resource"] as? String == "https://graph.example" })
            #expect(items.contains { $0["refreshToken"] is String && $0["resource"] == nil })
            withExtendedLifetime(agent) {}
        }
    }

    @Test func protectsAnExport() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let file = f.folder.file("out.json")
            let export = ["export", "--format", "msal-json", "-o", file]
            let unconfirmed = try await f.run("ssoctl", export)
            #expect(unconfirmed.status == 64)
            #expect(unconfirmed.errors.contains("--include-secrets"))
            _ = try await json(f, export + ["--include-secrets"])
            let failure = try await json(f, export + ["--include-secrets"], status: 1)
            #expect(((failure["error"] as? [String: Any])?["message"] as? String)?.contains("--force") == true)
            _ = try await json(f, export + ["--include-secrets", "--force"])
            #expect(try TemporaryFolder.mode(of: file) == 0o600)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: f.folder.path).contains { $0.hasSuffix(".part") }
                    == false)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func reportsFilesThatItCannotRead() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let file = f.folder.file("cache")
            try Data("no cache".utf8).write(to: URL(filePath: file))
            for format in ["msal-json", "adal-json", "adal-archive"] {
                let failure = try await json(f, ["import", "--format", format, file], status: 1)
                #expect((failure["error"] as? [String: Any])?["name"] as? String == "cacheBadFormat")
            }
            _ = try await json(f, ["import", "--format", "msal-json", f.folder.file("nothing")], status: 1)
            #expect(try await f.run("ssoctl", ["import", "--format", "yaml", file]).status == 64)
            let plain = try await f.run("ssoctl", ["import", "--format", "adal-json", f.folder.file("empty")])
            #expect(plain.status == 1)
            try Data("[{}]".utf8).write(to: URL(filePath: file))
            let report = try await f.run("ssoctl", ["import", "--format", "adal-json", file])
            #expect(report.output.contains("Imported 0 accounts"))
            #expect(report.output.contains("it holds no token"))
            withExtendedLifetime(agent) {}
        }
    }

    /// As PowerShell 5 redirects what a program writes.
    @Test func tellsHowATextInUTF16IsImported() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let file = f.folder.file("cache file")
            for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
                let data = try #require("\u{FEFF}{}".data(using: encoding))
                try data.write(to: URL(filePath: file))
                let failure = try await json(f, ["import", file, "--dry-run"], status: 1)["error"] as? [String: Any]
                #expect(failure?["message"] as? String == "\(file): a text in UTF-16; a cache is in UTF-8")
                let command = try #require(failure?["nextCommand"] as? String)
                let program = "ssoctl() { \"$0\" \"$@\"; }; \(command)"
                let imported = try await f.run("/bin/sh", ["-c", program, Executable.path("ssoctl")])
                #expect(imported.output.contains("Nothing to import"), "\(command): \(imported.errors)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// A list, as ADAL's, of sections whose entries are texts.
    @Test func tellsTheListsOfMSALForDotNETFromThoseOfADAL() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            func text(_ entry: [String: String]) throws -> String {
                String(decoding: try JSONEncoder().encode(entry), as: UTF8.self)
            }
            let common = ["home_account_id": "uid.utid", "environment": "login.windows.net"]
            let token = ["client_id": Self.app, "credential_type": "RefreshToken", "secret": "rt"]
            let account = ["realm": "utid", "username": "alice@contoso.com", "authority_type": "MSSTS"]
            let sections: [[String: Any]] = try [
                ["Key": "refresh_tokens", "Value": [text(common.merging(token) { $1 })]],
                ["Key": "accounts", "Value": [text(common.merging(account) { $1 })]],
            ]
            let file = f.folder.file("cache")
            for options in [[.sortedKeys], [.sortedKeys, .prettyPrinted]] as [JSONSerialization.WritingOptions] {
                try JSONSerialization.data(withJSONObject: sections, options: options).write(to: URL(filePath: file))
                let printed = try await json(f, ["import", file, "--dry-run"])
                #expect(printed["format"] as? String == "msal-json", "\(printed)")
                let counts = printed["imported"] as? [String: Int]
                #expect(counts?["accounts"] == 1 && counts?["refreshTokens"] == 1, "\(printed)")
                // A pipe that brings the bytes one by one.
                let bytes = "while IFS= read -r -n1 -d '' byte; do printf %s \"$byte\"; done <\"$1\""
                let pipe = "\(bytes) | \"$0\" import /dev/stdin --dry-run"
                let piped = try await f.run("/usr/bin/env", ["bash", "-c", pipe, Executable.path("ssoctl"), file])
                #expect(piped.output.contains("1 account, 1 refresh token"), "\(piped)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// MSAL for Python writes “{}” before anybody has signed in. Counts alone would look as if tokens had been rejected.
    @Test func saysThatACacheWithoutAccountsHasNothingToImport() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let file = f.folder.file("cache")
            for content in ["{}", "[]", #"{"AccessToken": {}}"#] {
                try Data(content.utf8).write(to: URL(filePath: file))
                for arguments in [["import", file], ["import", file, "--dry-run"]] {
                    let report = try await f.run("ssoctl", arguments)
                    #expect(report.status == 0, "\(report)")
                    #expect(report.output == "Nothing to import: the file has no accounts and no tokens.\n")
                    let printed = try await json(f, arguments)
                    #expect((printed["imported"] as? [String: Int])?.values.max() == 0, "\(printed)")
                    #expect((printed["skipped"] as? [Any])?.isEmpty == true, "\(printed)")
                }
            }
            withExtendedLifetime(agent) {}
        }
    }
}

/// A version of one of Microsoft's libraries for Python, installed at its first use.
struct PythonLibrary: Sendable, CustomTestStringConvertible {
    var name: String
    var version: String
    var testDescription: String { "\(name) \(version)" }

    /// Runs a script of `Tests/DaemonTests/python` with the library, and returns its output, a JSON object.
    func run(_ script: String, _ arguments: [String], in f: AgentProcessFixture) async throws -> [String: Any] {
        let target = try await Python.output(
            of: PackageFolder.path("Tests/DaemonTests/python/install.sh"), [Python.virtualEnvironment, name, version])
        var environment = f.environment
        environment["PYTHONPATH"] = target.trimmingCharacters(in: .newlines)
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        environment["PYTHONWARNINGS"] = "ignore"
        let output = try await Python.run("Tests/DaemonTests/python/\(script)", arguments, environment: environment)
        return try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }
}
