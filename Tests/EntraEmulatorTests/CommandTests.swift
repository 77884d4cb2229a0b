internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// The output and the exit status of the executable.
@Suite(.bounded) struct CommandTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func printsItsURLAndStopsOnASignal(signal: Int32) async throws {
        let emulator = try TestProcess("entra-emulator", ["--user", "alice@contoso.example", "--seed", "7"])
        let line = try await emulator.waitForOutput("\n")
        let ready = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        let users = try await HTTP.get("\(ready["url"] ?? "")/control/users")
        #expect(users.body.contains(Directory(seed: 7).user(username: "alice@contoso.example").objectID))
        emulator.signal(signal)
        let ended = try await emulator.finish()
        #expect(ended.status == 0)
        #expect(ended.output == "")
    }

    @Test func saysHowToUseItOnATerminalAndAtItsFirstPage() async throws {
        let script = PackageFolder.path("Tests/DaemonTests/python/terminal.py")
        let emulator = try TestProcess(
            "/usr/bin/env",
            ["python3", script, #"[["Ctrl-C stops it.", "\u0003"]]"#, Executable.path("entra-emulator")])
        let shown = try await emulator.finish()
        #expect(shown.status == 0, "\(shown)")
        let url = try #require(shown.output.firstMatch(of: #/\{"url":"(http:[^"]*)"\}/#)?.output.1)
        for text in [
            "allow_loopback_http = true", "sso-agent --allow-loopback-http", "Any client ID",
            "ssoctl app add demo --client-id any --authority \(url)/organizations --scope User.Read\r\n",
        ] {
            #expect(shown.output.contains(text), "\(text): \(shown.output)")
        }
        try await withEmulator { emulator in
            let page = try await HTTP.get("\(emulator.url)/")
            #expect(page.status == 200 && page.body.contains("\(emulator.url)/organizations"), "\(page.body)")
            #expect(try await HTTP.get("\(emulator.url)/nothing").status == 404)
        }
    }

    @Test func namesThePortThatIsInUse() async throws {
        try await withEmulator { emulator in
            let port = emulator.url.split(separator: ":").last.map(String.init) ?? ""
            let ended = try await TestProcess("entra-emulator", ["--port", port]).finish()
            #expect(ended.status == 1 && ended.output.isEmpty)
            #expect(ended.errors == "Error: port \(port) is in use; choose another one with --port\n")
        }
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "Linux only"),
        arguments: ["", "--help", "--version"])
    func saysThatItsOutputCannotBeWritten(option: String) async throws {
        let line = "\(Executable.path("entra-emulator")) \(option) >/dev/full"
        let ended = try await TestProcess("/bin/sh", ["-c", line]).finish()
        #expect(ended.status == 1)
        #expect(ended.errors == "Error: the output cannot be written: No space left on device\n")
    }

    /// Its own pipe for signals would be in their place otherwise, and the line with the URL in that pipe.
    @Test func saysThatItsOutputIsClosed() async throws {
        let line = "\(Executable.path("entra-emulator")) 0<&- 1>&-"
        let ended = try await TestProcess("/bin/sh", ["-c", line]).finish()
        #expect(ended.status == 1)
        #expect(ended.errors == "Error: the output cannot be written: Bad file descriptor\n")
    }

    @Test func hasTheVersionOfThePackage() async throws {
        let ended = try await TestProcess("entra-emulator", ["--version"]).finish()
        #expect(ended.status == 0 && ended.output.contains(#/^\d+\.\d+\.\d+\S*\n$/#), "\(ended.output)")
    }

    @Test(arguments: [
        ["--port", "65536"], ["--tls-cert", "only.pem"], ["--tls-cert", "no", "--tls-key", "no"], ["--unknown"],
        ["--user", ""],
    ])
    func refusesInvalidArguments(arguments: [String]) async throws {
        let ended = try await TestProcess("entra-emulator", arguments).finish()
        #expect(ended.status != 0)
        #expect(ended.output == "")
        #expect(!ended.errors.isEmpty)
    }
}
