internal import Foundation
internal import TestSupport
internal import Testing

/// The shell scripts of the package.
@Suite(.bounded) struct ScriptTests {
    private struct Script {
        var path: String
        var lines: [Substring]
    }

    private static func scripts() throws -> [Script] {
        var scripts: [Script] = []
        for folder in [".ci", "Protos", "Tests", "examples", "packaging"] {
            for name in FileManager.default.subpaths(atPath: PackageFolder.path(folder)) ?? [] {
                let path = "\(folder)/\(name)"
                guard let text = PackageTree.text(path), text.hasPrefix("#!/bin/sh\n") else { continue }
                scripts.append(Script(path: path, lines: text.split(separator: "\n")))
            }
        }
        try #require(scripts.count > 15)
        return scripts
    }

    @Test(.enabled(if: Executable.isInstalled("dash"), "there is no dash"))
    func areScriptsOfThePOSIXShell() async throws {
        for script in try Self.scripts() {
            let answer = try await TestProcess("/usr/bin/env", ["dash", "-n", PackageFolder.path(script.path)]).finish()
            #expect(answer.status == 0, "\(script.path): \(answer.errors)")
            #expect(script.lines.contains { $0.hasPrefix("set -e") }, "\(script.path): it goes on after an error")
        }
    }

    /// Makes a program that does nothing, if the files that it is made of exist.
    private static let compiler = #"""
        while [ $# -gt 0 ]; do
            case $1 in
                -o) printf '#!/bin/sh\n' >"$2" && chmod 755 "$2"; shift ;;
                *.swift | *.c | *.o) [ -e "$1" ] || { echo "there is no $1" >&2; exit 1; } ;;
            esac
            shift
        done
        """#

    /// Runs a script from a folder whose path has a blank, with compilers that are programs of the test.
    private static func run(
        _ script: String, _ arguments: [String], compiler: (name: String, program: String), in folder: TemporaryFolder
    ) async throws -> (status: Int32, output: String, errors: String) {
        let sources = folder.file("a b")
        try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: false)
        for name in ["Sources", "Tests"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(sources)/\(name)", withDestinationPath: PackageFolder.path(name))
        }
        _ = try await folder.makeProgram(compiler.name, compiler.program)
        _ = try await folder.makeProgram("clang", Self.compiler)
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT"] = folder.file("compiler")
        environment["PATH"] = "\(folder.path):\(environment["PATH"] ?? "/usr/bin:/bin")"
        return try await TestProcess("\(sources)/\(script)", arguments, environment: environment).finish()
    }

    /// The lists of flags and files are words of the shell.
    @Test func fuzzFromAFolderWithABlank() async throws {
        let folder = try TemporaryFolder()
        let answer = try await Self.run(
            "Tests/Fuzz/run.sh", ["text", "1"], compiler: ("compilerc", Self.compiler), in: folder)
        #expect(answer.status == 0, "\(answer)")
        #expect(FileManager.default.fileExists(atPath: folder.file("a b/.build/fuzz/fuzz-text")))
    }

    /// The fuzzer compiles the store without its database, which has a stand-in.
    @Test func fuzzWithAStandInThatHasWhatTheStoresFilesUse() throws {
        let standIn = try #require(PackageTree.text("Tests/Fuzz/StoreDatabaseStandIn.swift"))
        let files = ["Files", "Keys", "Sealing"].flatMap { PackageTree.swiftFiles("Sources/TokenStore/\($0)") }
        let used = Set(files.flatMap { file in file.text.matches(of: /\bStoreDatabase\.(\w+)/).map(\.1) })
        #expect(used.count > 1)
        for name in used { #expect(standIn.contains("static let \(name) "), "\(name)") }
    }

    /// Sanitizers divide their options at blanks, and the loader the libraries to preload.
    @Test(arguments: ["address", "thread"]) func sanitizeFromAFolderWithABlank(kind: String) async throws {
        let program = #"""
            [ "$1" = test ] || exit 0
            for options in "$LSAN_OPTIONS" "$TSAN_OPTIONS"; do
                case $options in "suppressions='"*"/a b/"*"'"*) ;; *) exit 1 ;; esac
            done
            set -- ${LD_PRELOAD:-}
            for library; do [ -e "$library" ] || exit 2; done
            """#
        let folder = try TemporaryFolder()
        let answer = try await Self.run(
            "Tests/Sanitizers/run.sh", [kind], compiler: ("compiler", program), in: folder)
        #expect(answer.status == 0, "\(answer)")
    }

    #if os(Linux)
        /// What the toolchain requires on Ubuntu is no compiler of the system: it has one itself.
        @Test func buildAReleaseWithoutACompilerOfTheSystem() async throws {
            let folder = try TemporaryFolder()
            for name in ["tools", "packaging"] {
                try FileManager.default.createDirectory(
                    atPath: folder.file(name), withIntermediateDirectories: false)
            }
            for tool in ["sh", "dirname", "uname", "mkdir", "ln", "cp"] {
                let path = try #require(["/usr/bin", "/bin"].map { "\($0)/\(tool)" }.first(where: Self.exists))
                try FileManager.default.createSymbolicLink(
                    atPath: folder.file("tools/\(tool)"), withDestinationPath: path)
            }
            try FileManager.default.copyItem(
                atPath: PackageFolder.path("packaging/versions.json"), toPath: folder.file("packaging/versions.json"))
            let script = try await folder.copyProgram("packaging/build", from: PackageFolder.path("packaging/build"))
            let archive = folder.file("libstdc++.a")
            try Data().write(to: URL(filePath: archive))
            _ = try await folder.makeProgram("tools/swift", "exit 0")
            _ = try await folder.makeProgram("tools/clang", "echo '\(archive)'")
            let answer = try await TestProcess(script, ["sso-agent"], environment: ["PATH": folder.file("tools")])
                .finish()
            #expect(answer.status == 0, "\(answer)")
            let link = try FileManager.default.destinationOfSymbolicLink(
                atPath: folder.file(".build/static-c++/libstdc++.a"))
            #expect(link == archive)
        }

        private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
    #endif

    @Test func findTheirFolderWithoutCDPATH() throws {
        for script in try Self.scripts() {
            for line in script.lines where line.contains("cd") && line.contains("$(dirname") {
                #expect(line.contains("CDPATH= cd -- "), "\(script.path): \(line)")
            }
        }
    }

    /// Only some shells run what is to be done at the exit after a signal as well: that of Debian does not.
    @Test func cleanUpAfterASignal() throws {
        for script in try Self.scripts() {
            let lines = script.lines.map { $0.drop { $0 == " " } }
            guard lines.contains(where: { $0.hasPrefix("trap ") && $0.hasSuffix(" EXIT") }) else { continue }
            #expect(lines.contains("trap 'exit 130' HUP INT TERM"), "\(script.path)")
        }
    }

    /// A command before `&&` may fail without the end of the script, which then works in "/" instead of its folder.
    @Test func endWithoutATemporaryFolder() throws {
        for script in try Self.scripts() {
            for line in script.lines where line.contains("$(mktemp") {
                #expect(!line.contains("&&") && !line.contains("||"), "\(script.path): \(line)")
            }
        }
    }
}
