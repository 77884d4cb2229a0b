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

    /// The lists of flags and files of `Tests/Fuzz/run.sh` are words. The compilers here are those above.
    @Test func fuzzFromAFolderWithABlank() async throws {
        let folder = try TemporaryFolder()
        let sources = folder.file("a b")
        try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: false)
        for name in ["Sources", "Tests"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(sources)/\(name)", withDestinationPath: PackageFolder.path(name))
        }
        for name in ["compilerc", "clang"] { _ = try await folder.makeProgram(name, Self.compiler) }
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT"] = folder.file("compiler")
        environment["PATH"] = "\(folder.path):\(environment["PATH"] ?? "/usr/bin:/bin")"
        let answer = try await TestProcess(
            "\(sources)/Tests/Fuzz/run.sh", ["text", "1"], environment: environment
        ).finish()
        #expect(answer.status == 0, "\(answer)")
        #expect(FileManager.default.fileExists(atPath: "\(sources)/.build/fuzz/fuzz-text"))
    }

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
            guard script.lines.contains(where: { $0.hasPrefix("trap ") && $0.hasSuffix(" EXIT") }) else { continue }
            #expect(script.lines.contains("trap 'exit 130' HUP INT TERM"), "\(script.path)")
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
