internal import ArgumentParser
internal import CAgentSystem
internal import EntraEmulator
internal import Foundation
internal import PosixFiles
internal import TokenModel

/// `entra-emulator`: the emulator as a program of its own.
@main
struct EntraEmulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entra-emulator",
        abstract: "A local identity provider that behaves like Microsoft Entra's endpoints.",
        discussion: """
            Listens on 127.0.0.1 and prints its base URL as one line of JSON when it is ready. Anybody may sign in, \
            without a password: it is for tests, and for nothing else. SIGTERM and SIGINT stop it.

            The authority of an app is the base URL with /organizations or /common; any client ID works. The agent refuses \
            http unless it is started with --allow-loopback-http, or its configuration has allow_loopback_http = true under \
            [network]. The examples have an agent of their own, in an empty folder, beside the one that may be running.

            While it runs, requests to /control add users, faults and delays, and count requests.

            Examples:
              cd "$(mktemp -d)"
              export SSO_AGENT_SOCK=$PWD/run/agent.sock
              export SSO_AGENT_STATE_DIR=$PWD/state SSO_AGENT_CONFIG=$PWD/config.toml
              entra-emulator --port 8080 --user alice@contoso.com &
              ssoctl app add demo --client-id any --scope User.Read \\
                --authority http://127.0.0.1:8080/organizations
              sso-agent --allow-loopback-http &
              sleep 1
              ssoctl sign-in
              ssoctl token --decode
              curl http://127.0.0.1:8080/control/users \\
                -d '{"username":"carl@contoso.com"}'
              curl http://127.0.0.1:8080/control/faults \\
                -d '{"grant":"refresh_token","error":"invalid_grant"}'
              curl http://127.0.0.1:8080/control/faults -d '{"status":503,"count":0}'
              curl -X DELETE http://127.0.0.1:8080/control/faults
            """,
        version: ProductVersion.text)

    @Option(help: "Port to listen on; 0 lets the system choose.")
    var port = 0

    @Option(help: "Number that tenant IDs, object IDs and opaque tokens follow from.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Certificate chain, a PEM file.", valueName: "file"), completion: .file())
    var tlsCert: String?

    @Option(help: ArgumentHelp("Private key, a PEM file.", valueName: "file"), completion: .file())
    var tlsKey: String?

    @Option(name: .customLong("user"), parsing: .upToNextOption, help: "Users that exist from the start.")
    var users: [String] = []

    static func main() async {
        agent_hold_standard_streams()
        do {
            try await parse().run()
        } catch {
            StandardStream.widenHelp()
            let (status, text) = (exitCode(for: error), fullMessage(for: error))
            if !text.isEmpty { (status.isSuccess ? StandardStream.output : .error).write(text + "\n") }
            if status.isSuccess, let problem = StandardStream.outputProblem {
                exit(withError: OutputLost(description: problem))
            }
            exit(withError: status)
        }
    }

    func validate() throws {
        if let problem = ProgramArguments.problem { throw ValidationError(problem) }
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key belong together.")
        }
        for file in [tlsCert, tlsKey].compactMap(\.self) where !FileManager.default.isReadableFile(atPath: file) {
            throw ValidationError("\(file) cannot be read: there is no such file, or it is not yours to read.")
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port is a number up to 65535.") }
        guard users.allSatisfy({ $0.trimmedNonEmpty != nil }) else {
            throw ValidationError("--user must not be blank.")
        }
    }

    func run() async throws {
        var options = EmulatorOptions(port: port, seed: seed, usernames: users)
        if let tlsCert, let tlsKey {
            options.tls = TLSFiles(certificateChain: tlsCert, privateKey: tlsKey)
        }
        try await Emulator.serve(options) { emulator in
            StandardStream.output.write(#"{"url":"\#(emulator.url)"}"# + "\n")
            if let problem = StandardStream.outputProblem { throw OutputLost(description: problem) }
            guard isatty(STDERR_FILENO) == 1 else { return }
            let lines = [""] + emulator.guide.lines + [""]
            try FileHandle.standardError.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
        }
    }
}

/// The base URL, the help or the version could not be written, as to a full disk, so that nobody would know it.
private struct OutputLost: Error, CustomStringConvertible {
    let description: String
}
