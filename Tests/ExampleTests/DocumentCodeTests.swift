internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing

/// The code of the documents: commands are run against an agent and the emulator, configurations are checked by the agent, Swift is
/// compiled, JSON is parsed. A block that is not tested says why, in a comment on the line before it.
@Suite(.bounded) struct DocumentCodeTests {
    /// The languages of blocks; text is output or a picture, and `hex` has tests of the protocol.
    private static let languages: Set = [
        "", "hex request", "hex reply", "ini", "json", "python", "sh", "swift", "toml",
    ]

    @Test func knowsTheLanguageOfEveryBlock() {
        #expect(CodeBlock.all.count > 50)
        for block in CodeBlock.all where !block.document.hasPrefix("Protos/") {
            #expect(Self.languages.contains(block.language), "\(block.testDescription): \(block.language)")
            let isChecked = !["ini", "python"].contains(block.language)
            #expect(isChecked || block.exemption != nil, "\(block.testDescription) has no reason why it is not run")
        }
    }

    private static func documents(with language: String) -> [String] {
        Set(CodeBlock.all.filter { $0.language == language && $0.exemption == nil }.map(\.document)).sorted()
    }

    private static func blocks(of document: String, in language: String) -> [CodeBlock] {
        CodeBlock.all.filter { $0.document == document && $0.language == language && $0.exemption == nil }
    }

    // MARK: Commands

    /// What the reader of a document has done before.
    private static let preparations = [
        "docs/import.md":
            "cp \"$ROOT/Tests/CacheFormatsTests/Fixtures/msal-json/go_devapps_serialized_cache.json\" token_cache.json",
        "docs/emulator.md": "export url=$EMULATOR",
        "docs/sockets.md": signIn, "docs/recipes.md": signIn,
    ]

    private static let signIn = """
        ssoctl sign-in --client-id 11111111-2222-4333-8444-555555555555 --tenant organizations --scope User.Read \
        --login-hint alice@contoso.com
        """

    /// A document's commands run in one shell, in a network in which every host is the emulator. `sleep` waits until the agent and the emulator answer,
    /// and `curl` trusts the emulator for every host.
    @Test(arguments: documents(with: "sh"))
    func runsTheCommands(document: String) async throws {
        try await AgentProcessFixture.with(isOnline: true) { f in
            let agent = try await f.agent()
            f.emulator.control.addUser("alice@contoso.com")
            let port = try await Self.freePort()
            let script = Self.blocks(of: document, in: "sh").map { block in
                let code = block.code.replacing("8400", with: "\(port)")
                let commands = "echo 'at \(block.testDescription)' >&2\n\(code)"
                return block.needsOwnShell ? "(\nown_shell\n\(commands))" : commands
            }
            let ended = try await Self.run([Self.preparations[document] ?? ""] + script, port, f)
            #expect(ended.status == 0, "\(document): \(ended.output)\n\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The first example of `entra-emulator --help`, up to the blank line.
    @Test func runsTheExampleOfTheEmulatorsHelp() async throws {
        try await AgentProcessFixture.with(isOnline: true) { f in
            let help = try await TestProcess("entra-emulator", ["--help"], environment: f.environment).finish().output
            let example = try #require(help.components(separatedBy: "Examples:\n").last)
            let commands = example.components(separatedBy: "\n\n")[0]
            #expect(commands.contains("ssoctl token"))
            let port = try await Self.freePort()
            let ended = try await Self.run(
                ["(", "own_shell", commands.replacing("8080", with: "\(port)"), ")"], port, f)
            #expect(ended.status == 0, "\(ended.output)\n\(ended.errors)")
            #expect(ended.output.contains("alice@contoso.com"))
        }
    }

    /// Runs a script in the shell of the prelude.
    private static func run(
        _ script: [String], _ port: Int, _ f: AgentProcessFixture
    ) async throws -> (status: Int32, output: String, errors: String) {
        let file = f.folder.file("document.sh")
        try ([prelude] + script).joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
        let variables = [
            "ROOT": PackageFolder.root.path, "EMULATOR": f.emulator.url, "TMPDIR": f.folder.path, "PORT": "\(port)",
            "SSO_AGENT_START": "0", "PATH": "\(Executable.folder.path):\(f.environment["PATH"] ?? "")",
        ]
        let ended = try await TestProcess(
            "/bin/bash", [file], environment: f.environment.merging(variables) { $1 }
        ).finish()
        return (ended.status, ended.output, ended.errors)
    }

    private static let prelude = """
        set -euo pipefail
        cd "$HOME"
        end_jobs() { jobs -p | while read -r process; do kill "$process" 2>/dev/null || true; done; }
        trap end_jobs EXIT
        own_shell() {
            trap end_jobs EXIT
            HOME=$(mktemp -d)
            cd "$HOME"
            unset SSO_AGENT_SOCK SSO_AGENT_STATE_DIR SSO_AGENT_CONFIG XDG_RUNTIME_DIR
        }
        emulator_answers() { ! jobs | grep -q entra-emulator || command curl -s -o /dev/null "http://127.0.0.1:$PORT/"; }
        sleep() {
            for _ in $(seq 600); do
                if ssoctl status >/dev/null 2>&1 && emulator_answers; then return; fi
                command sleep 0.1
            done
            return 1
        }
        curl() { command curl --insecure "$@"; }
        """

    /// The next port for an emulator that a script starts. Ports from 32768 on are those that Linux gives to sockets for which any port
    /// will do, as those of the tests that run beside a script: one that is free now may be taken before the emulator has started.
    private static let nextPort = Mutex(Int.random(in: 10_000..<30_000))

    /// A port that no other test has, or will get.
    private static func freePort() async throws -> Int {
        for _ in 0..<1000 {
            let port = nextPort.withLock { next in
                next += 1
                return next
            }
            guard let emulator = try? await Emulator.start(EmulatorOptions(port: port)) else { continue }
            await emulator.stop()
            return port
        }
        throw POSIXError(.EADDRINUSE)
    }

    @Test func givesEachScriptAPortThatTheSystemGivesToNobody() async throws {
        let ports = [try await Self.freePort(), try await Self.freePort()]
        #expect(Set(ports).count == 2 && ports.allSatisfy { $0 < 32_768 }, "\(ports)")
    }

    // MARK: Values

    @Test(arguments: CodeBlock.all.filter { $0.language == "toml" && $0.exemption == nil })
    func showsAConfigurationThatTheAgentAccepts(block: CodeBlock) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("config.toml")
        try block.code.write(toFile: file, atomically: false, encoding: .utf8)
        let ended = try await TestProcess(
            "sso-agent", ["--check-config"],
            environment: [
                "HOME": folder.path, "SSO_AGENT_CONFIG": file, "SSO_AGENT_SYSTEM_CONFIG": folder.file("system"),
                "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
            ]
        ).finish()
        #expect(ended.status == 0, "\(block.testDescription): \(ended.output)\(ended.errors)")
    }

    @Test(arguments: CodeBlock.all.filter { $0.language == "json" && $0.exemption == nil })
    func showsJSON(block: CodeBlock) {
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(block.code.utf8)) }
    }

    // MARK: Swift

    /// Code of apps, one module for each library; each block is the body of a function.
    @Test(arguments: ["MSAL", "ADAL", "AgentClient"])
    func showsSwiftThatCompiles(module: String) async throws {
        let blocks = CodeBlock.all.filter {
            $0.language == "swift" && $0.exemption == nil && $0.code.hasPrefix("import \(module)\n")
        }
        #expect(!blocks.isEmpty)
        let functions = blocks.enumerated().map { number, block in
            let lines = block.code.split(separator: "\n", omittingEmptySubsequences: false)
            let code = lines.drop { $0.hasPrefix("import ") }
            return """
                func block\(number)() async throws {
                #sourceLocation(file: "\(block.document)", line: \(block.line + lines.count - code.count))
                \(code.joined(separator: "\n"))
                #sourceLocation()
                }
                """
        }
        let imports = Set(blocks.flatMap { $0.code.split(separator: "\n").prefix { $0.hasPrefix("import ") } })
        let folder = try TemporaryFolder()
        let file = folder.file("Blocks.swift")
        try (imports.sorted().map(String.init) + functions).joined(separator: "\n")
            .write(toFile: file, atomically: false, encoding: .utf8)
        let ended = try await TestProcess(
            "/usr/bin/env", ["swiftc", "-typecheck", "-swift-version", "6", file] + Self.moduleFlags()
        ).finish()
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
    }

    /// The steps of a tutorial, each as the whole file that a reader has then: the variables of a `main.swift` belong to the main actor,
    /// and the functions that use them have to, too. All passes that report errors are run.
    @Test(arguments: tutorialSteps)
    func compilesEachStepOfTheTutorial(path: String) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("main.swift")
        try FileManager.default.copyItem(atPath: PackageFolder.path(path), toPath: file)
        let ended = try await TestProcess(
            "/usr/bin/env",
            ["swiftc", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", file] + Self.moduleFlags()
        ).finish()
        #expect(ended.status == 0, "\(path): \(ended.output)\(ended.errors)")
    }

    @Test func findsTheStepsOfTheTutorial() { #expect(Self.tutorialSteps.count > 3) }

    @Test func compilesEveryBlockOfSwift() {
        for block in CodeBlock.all where block.language == "swift" && block.exemption == nil {
            let isImported = ["MSAL", "ADAL", "AgentClient"].contains { block.code.hasPrefix("import \($0)\n") }
            #expect(
                isImported, "\(block.testDescription) begins with no import, and has no reason why it is not compiled")
        }
    }

    /// `make docs`: every link of the catalogues leads somewhere, and every parameter is documented as it is called.
    @Test(.enabled(if: hasDocC, "the toolchain has no docc"))
    func buildsTheDocumentationOfTheModulesWithoutAWarning() async throws {
        let folder = try TemporaryFolder()
        let ended = try await TestProcess(
            PackageFolder.path(".ci/docs"), [Executable.folder.path, folder.file("docs")]
        )
        .finish()
        #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
        #expect(
            FileManager.default.fileExists(
                atPath: folder.file("docs/MSAL.doccarchive/data/tutorials/msal-tutorials.json")))
    }

    private static var hasDocC: Bool { Executable.isInstalled("docc") }

    private static let tutorialSteps: [String] = {
        let folder = "Sources/MSAL/MSAL.docc/Tutorials/Code"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: PackageFolder.path(folder))) ?? []
        return names.filter { $0.hasPrefix("main-") }.sorted().map { "\(folder)/\($0)" }
    }()

    /// Where the compiler finds the package's modules and the C modules that they import.
    private static func moduleFlags() throws -> [String] {
        let build = Executable.folder.path
        let sources = try FileManager.default.contentsOfDirectory(atPath: PackageFolder.path("Sources"))
        let folders = sources.filter { $0.hasPrefix("C") }.flatMap { ["Sources/\($0)", "Sources/\($0)/include"] }
        let maps = try FileManager.default.contentsOfDirectory(atPath: build)
            .filter { $0.hasPrefix("C") && $0.hasSuffix(".build") }.map { "\(build)/\($0)/module.modulemap" }
            .filter(FileManager.default.fileExists)
        return ["-I", "\(build)/Modules"] + folders.map { "-I\(PackageFolder.path($0))" }
            + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }
}
