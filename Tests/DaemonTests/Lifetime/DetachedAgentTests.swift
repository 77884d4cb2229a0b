internal import Foundation
internal import TestSupport
internal import Testing

/// What an agent that goes on in the background (`--on-demand`) takes from the program that has started it.
@Suite(.bounded) struct DetachedAgentTests {
    /// The agent leaves the folder in which it is started, and reads its configuration again later.
    @Test func findsRelativePathsInTheFolderInWhichItIsStarted() async throws {
        let home = try OnDemandHome()
        let script = """
            mkdir "$HOME/folder" && cd "$HOME/folder" || exit 1
            echo >config.toml
            # Its output ends when it listens.
            SSO_AGENT_STATE_DIR=state "$1" --on-demand --socket "../run/sso-agent/agent.sock" --config config.toml | cat
            export SSO_AGENT_SOCK="$XDG_RUNTIME_DIR/sso-agent/agent.sock"
            "$0" status --json || exit 3
            echo '[agent]' >config.toml
            "$0" reload --json
            """
        let ended = try await home.run(script)
        #expect(ended.status == 0, "\(ended)")
        #expect(FileManager.default.fileExists(atPath: home.folder.file("folder/state")), "\(ended)")
        #expect(ended.output.contains("config.toml"), "\(ended)")
        #expect(!FileManager.default.fileExists(atPath: home.folder.file(".local")))
    }

    /// The XDG Base Directory Specification has relative paths ignored.
    @Test func ignoresRelativeFoldersOfTheEnvironment() async throws {
        let home = try OnDemandHome()
        let script = """
            cd "$HOME" || exit 1
            XDG_STATE_HOME=relative XDG_CONFIG_HOME=relative "$0" status --json
            """
        let ended = try await home.run(script)
        #expect(ended.status == 0, "\(ended)")
        #expect(FileManager.default.fileExists(atPath: home.folder.file(".local/state/sso-agent")))
        #expect(!FileManager.default.fileExists(atPath: home.folder.file("relative")))
    }

    /// The program and the agent that it starts have the same store.
    @Test func findsARelativeHomeInTheFolderInWhichItIsStarted() async throws {
        let home = try OnDemandHome()
        let script = """
            mkdir "$HOME/other" && cd "$HOME" || exit 1
            unset XDG_STATE_HOME XDG_CONFIG_HOME
            HOME=other "$0" status --json
            """
        let ended = try await home.run(script)
        #expect(ended.status == 0, "\(ended)")
        #expect(FileManager.default.fileExists(atPath: home.folder.file("other/.local/state/sso-agent")), "\(ended)")
    }

    @Test func readsNoPassphraseInTheBackground() async throws {
        let home = try OnDemandHome()
        let ended = try await home.run("exec \"$1\" --on-demand --passphrase-fd 3 3<<<\"correct horse\"")
        #expect(ended.status == 64, "\(ended)")
        #expect(ended.errors.contains("--passphrase-fd"), "\(ended)")
    }

    #if os(Linux)
        /// The limit of open files may have been lowered after a file got a high number.
        @Test(.enabled(if: OtherUser.isPossible, "only root can look into the agent"))
        func hasNoFileOfWhoeverStartedIt() async throws {
            let home = try OnDemandHome()
            let script = """
                echo text >"$HOME/document"
                limit=$(ulimit -H -n)
                [ "$limit" != unlimited ] && [ "$limit" -lt 80000 ] || limit=80000
                ulimit -S -n "$limit"
                eval "exec $((limit - 1))<\"$HOME/document\" 40<\"$HOME/document\""
                ulimit -S -n 1024
                "$1" --on-demand --socket "$XDG_RUNTIME_DIR/sso-agent/agent.sock" | cat
                """
            var files: [String]?
            let ended = try await home.run(script) { agent in
                files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(agent)/fd").compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(agent)/fd/\($0)")
                }
            }
            #expect(ended.status == 0, "\(ended)")
            let open = try #require(files)
            #expect(!open.isEmpty && !open.contains(home.folder.file("document")), "\(open)")
        }
    #endif
}
