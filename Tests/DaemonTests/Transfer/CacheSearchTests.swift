internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// `ssoctl import`: the format of a file, and caches that other tools have left.
@Suite(.bounded) struct CacheSearchTests {
    private static let fixtures = "Tests/CacheFormatsTests/Fixtures"

    private static func fixture(_ name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: PackageFolder.path("\(fixtures)/\(name)")))
    }

    /// Writes a file of mode 0600, and the folders above it.
    @discardableResult
    private static func write(_ content: Data, _ name: String, _ f: AgentProcessFixture) throws -> String {
        let path = f.folder.file(name)
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    @Test(arguments: [
        ("msal-json/python_1.39.0_basic.json", "msal-json"),
        ("adal-json/01_authcode_single_user.json", "adal-json"),
        ("adal-archive/mac-2.7-cache.plist", "adal-archive"),
        ("adal-archive/ios-2.7-item.bplist", "adal-archive"),
    ])
    func tellsTheFormatByTheContent(file: String, format: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = PackageFolder.path("\(Self.fixtures)/\(file)")
            let told = try await f.json(["import", path, "--dry-run"])
            #expect(told["format"] as? String == format)
            let given = try await f.json(["import", path, "--dry-run", "--format", format])
            #expect(given["format"] == nil)
            #expect(told["imported"] as? [String: Int] == given["imported"] as? [String: Int])
            withExtendedLifetime(agent) {}
        }
    }

    /// The archive has the refresh token of a family under a client ID of ADAL's own.
    @Test func listsNoAppForTheRefreshTokenOfAFamily() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try await f.json(["import", PackageFolder.path("\(Self.fixtures)/adal-archive/mac-2.7-cache.plist")])
            let accounts = try #require(await f.json(["accounts"])["accounts"] as? [[String: Any]])
            let alice = accounts.filter { $0["username"] as? String == "alice@contoso.com" }
            #expect(alice.map { $0["apps"] as? [String] } == [["d3590ed6-52b3-4102-aeff-aad2292ab01c"]])
            let removed = try await f.json(["sign-out", "alice@contoso.com"])
            #expect(removed["apps"] as? [String] == ["d3590ed6-52b3-4102-aeff-aad2292ab01c"])
            withExtendedLifetime(agent) {}
        }
    }

    /// A pipe may bring a byte order mark and blanks first.
    @Test func tellsTheFormatOfWhatAPipeBrings() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let cache = try Self.write(Self.fixture("msal-json/python_1.39.0_basic.json"), "cache", f)
            let script = #"{ printf '\357\273\277'; printf ' \n'; cat "$1"; } | "$0" import /dev/stdin --json"#
            let ended = try await TestProcess(
                "/bin/sh", ["-c", script, Executable.path("ssoctl"), cache], environment: f.environment
            ).finish()
            #expect(ended.status == 0 && ended.output.contains(#""format" : "msal-json""#), "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func refusesWhatIsNoCache() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            for content in ["", "\n \n", "eyJhbGciOiJkaXIifQ..a.b.c", "\u{0}\u{1}", #"{"profiles": {}}"#, "{"] {
                let path = try Self.write(Data(content.utf8), "cache", f)
                let failure = try await f.failure(["import", path], status: 1)
                #expect(failure["name"] as? String == "cacheBadFormat", "\(content)")
                #expect((failure["message"] as? String)?.hasPrefix(path) == true, "\(failure)")
                #expect(failure["nextCommand"] as? String == "ssoctl import --find", "\(failure)")
            }
            let missing = try await f.failure(["import", f.folder.file("missing")], status: 1)
            #expect(missing["nextCommand"] as? String == "ssoctl import --find", "\(missing)")
            for usage in [
                [], ["x", "--find"], ["--find", "--dry-run"], ["--from", "azure-cli", "--format", "msal-json"],
            ] {
                #expect(try await f.run("ssoctl", ["import"] + usage).status == 64, "\(usage)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// Root could read it in any case.
    @Test(.enabled(if: OtherUser.isPossible || geteuid() != 0))
    func namesTheModeWithWhichItsOwnerMayReadAFile() async throws {
        let home = try OnDemandHome()
        let ended = try await home.run(
            "cd \"$HOME\" && echo {} >c.json && chmod 0 c.json && exec \"$0\" import c.json")
        #expect(ended.status == 1 && ended.errors.hasSuffix("  → chmod u+rw c.json\n"), "\(ended)")
    }

    /// The names are words of the errors.
    @Test(arguments: ["cache", "JSON"], ["{", "x"])
    func namesAFileThatCannotBeImported(name: String, content: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try Self.write(Data(content.utf8), "files/\(name)", f)
            let script = #"cd "$1" && exec "$0" import "$2""#
            let arguments = ["-c", script, Executable.path("ssoctl"), f.folder.file("files"), name]
            let ended = try await TestProcess("/bin/sh", arguments, environment: f.environment).finish()
            #expect(ended.status == 1 && ended.errors.hasPrefix("ssoctl: \(name): "), "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func findsAndImportsTheCachesOfOtherTools() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let none = try await f.ssoctl(["import", "--find"])
            #expect(none.output.contains("No caches"))
            let empty = try await f.failure(["import", "--from", "azure-cli"], status: 1)
            #expect(empty["nextCommand"] as? String == "ssoctl import --find")

            let msal = try Self.fixture("msal-json/python_1.39.0_basic.json")
            let cli = try Self.write(msal, ".azure/msal_token_cache.json", f)
            let old = try Self.write(
                Self.fixture("adal-json/01_authcode_single_user.json"), ".azure/accessTokens.json", f)
            let identity = try Self.write(msal, ".IdentityService/msal.cache.nocae", f)
            let dotNet = try Self.write(msal, ".local/share/.IdentityService/msal.cache", f)
            // The marker beside a cache in a keyring, and a lock.
            try Self.write(Data("x".utf8), ".IdentityService/msal.cache", f)
            try Self.write(Data("{}".utf8), ".IdentityService/msal.cache.lockfile", f)
            let found = try #require(await f.json(["import", "--find"])["caches"] as? [[String: Any]])
            #expect(found.map { $0["file"] as? String } == [cli, old, identity, dotNet])
            #expect(
                found.map { $0["importCommand"] as? String } == [
                    "ssoctl import --from azure-cli", "ssoctl import --from azure-cli",
                    "ssoctl import --from azure-identity", "ssoctl import --from msal-dotnet",
                ])
            #expect(found.allSatisfy { $0["readableByOthers"] as? Bool == false })

            let dry = try await f.ssoctl(["import", "--from", "azure-cli", "--dry-run"])
            #expect(dry.output.hasPrefix("Would import ") && !dry.output.contains("rm "), "\(dry)")
            let imported = try await f.ssoctl(["import", "--from", "azure-cli"])
            #expect(imported.output.hasPrefix("Imported 2 accounts"), "\(imported)")
            #expect(imported.output.contains("\(cli) still has tokens, in plain text"))
            #expect(imported.output.contains("run: rm \(old)"))
            // Nothing is changed or removed.
            #expect(try Data(contentsOf: URL(filePath: cli)) == msal)
            let elsewhere = ["AZURE_CONFIG_DIR": f.folder.file("elsewhere")]
            _ = try await f.failure(["import", "--from", "azure-cli"], status: 1, variables: elsewhere)
            withExtendedLifetime(agent) {}
        }
    }

    /// Whoever reads the file has the tokens, also one of the user's group.
    @Test(arguments: [(0o600, false), (0o640, true), (0o604, true)])
    func warnsOfACacheThatOthersCanRead(mode: Int, isReadable: Bool) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let cache = try Self.write(
                Self.fixture("msal-json/python_1.39.0_basic.json"), ".azure/msal_token_cache.json", f)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: cache)
            let found = try #require(await f.json(["import", "--find"])["caches"] as? [[String: Any]])
            #expect(found.map { $0["readableByOthers"] as? Bool } == [isReadable])
            withExtendedLifetime(agent) {}
        }
    }

    @Test func findsACacheInTheFolderOfTheUsersData() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let cache = try Self.write(
                Self.fixture("msal-json/python_1.39.0_basic.json"), "data/.IdentityService/msal.cache", f)
            let found = try await f.json(["import", "--find"], variables: ["XDG_DATA_HOME": f.folder.file("data")])
            let caches = try #require(found["caches"] as? [[String: Any]])
            #expect(caches.map { $0["file"] as? String } == [cache])
            withExtendedLifetime(agent) {}
        }
    }

    /// As in a job of a service manager.
    @Test func findsTheCacheInANamedFolderWithoutAHome() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let cache = try Self.write(
                Self.fixture("msal-json/python_1.39.0_basic.json"), "azure/msal_token_cache.json", f)
            let variables = ["HOME": "", "AZURE_CONFIG_DIR": f.folder.file("azure")]
            let found = try await f.json(["import", "--find"], variables: variables)
            let caches = try #require(found["caches"] as? [[String: Any]])
            #expect(caches.compactMap { $0["file"] as? String }.contains(cache), "\(found)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func addsTheNumbersOfTheFiles() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let files = [
                try Self.write(
                    Self.fixture("msal-json/python_1.39.0_basic.json"), ".azure/msal_token_cache.json", f),
                try Self.write(
                    Self.fixture("adal-json/01_authcode_single_user.json"), ".azure/accessTokens.json", f),
            ]
            var sum: [String: Int] = [:]
            for file in files {
                let counts = try await f.json(["import", file, "--dry-run"])["imported"] as? [String: Int]
                sum.merge(try #require(counts)) { $0 + $1 }
            }
            let all = try await f.json(["import", "--from", "azure-cli", "--dry-run"])
            #expect(all["imported"] as? [String: Int] == sum)
            #expect(sum["idTokens"].map { $0 > 0 } == true, "\(sum)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A file that cannot be read keeps nobody from the others.
    @Test func importsTheOtherCachesBesideADamagedOne() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let damaged = try Self.write(Data("{ no cache".utf8), ".azure/msal_token_cache.json", f)
            let good = try Self.write(
                Self.fixture("adal-json/01_authcode_single_user.json"), ".azure/accessTokens.json", f)
            let printed = try await f.ssoctl(["import", "--from", "azure-cli"], status: 1)
            #expect(printed.output.hasPrefix("Imported 1 account,"), "\(printed)")
            #expect(printed.errors.hasPrefix("ssoctl: \(damaged): "), "\(printed)")
            #expect(printed.output.contains("\(good) still has tokens"), "\(printed)")
            #expect(!printed.output.contains("\(damaged) still has tokens"), "\(printed)")
            let json = try await f.json(["import", "--from", "azure-cli"], status: 1)
            let failed = try #require(json["failed"] as? [[String: Any]])
            #expect(failed.count == 1 && failed.first?["file"] as? String == damaged, "\(json)")
            #expect((json["imported"] as? [String: Int])?["accounts"] != nil)
            withExtendedLifetime(agent) {}
        }
    }

    /// What stands in the place of a cache is not trusted: a pipe, another user's file, a link to nothing.
    @Test func passesOverWhatIsNoFileOfTheUsers() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let cli = try Self.write(Data("{}".utf8), ".azure/msal_token_cache.json", f)
            try FileManager.default.removeItem(atPath: cli)
            #expect(mkfifo(cli, 0o600) == 0)
            let pipe = try await f.ssoctl(["import", "--from", "azure-cli"], status: 1)
            #expect(pipe.errors.contains("it is a named pipe"), "\(pipe)")
            try FileManager.default.removeItem(atPath: cli)
            try FileManager.default.createSymbolicLink(atPath: cli, withDestinationPath: f.folder.file("nothing"))
            try await f.ssoctl(["import", "--from", "azure-cli"], status: 1)
            try FileManager.default.removeItem(atPath: cli)
            if OtherUser.isPossible {
                try Self.write(Data("{}".utf8), ".azure/msal_token_cache.json", f)
                #expect(chown(cli, OtherUser.id, OtherUser.id) == 0)
                let others = try await f.ssoctl(["import", "--from", "azure-cli"], status: 1)
                #expect(others.errors.contains("belongs to user \(OtherUser.id)"), "\(others)")
            }
            withExtendedLifetime(agent) {}
        }
    }
}
