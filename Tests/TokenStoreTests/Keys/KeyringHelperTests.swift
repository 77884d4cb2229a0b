internal import CAgentSystem
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import TokenStore

/// The process that runs `secret-tool` for an agent that may not start programs itself.
#if os(Linux)
    @Suite(.bounded, .disabled(if: Sanitizer.isOfThreads, "it runs no copies of a process")) struct KeyringHelperTests {
        // In a process of its own, since the helper is a copy of the process that starts it.
        @Test func readsAndWritesTheKeyOfItsStore() async throws {
            let folder = try await keyring()
            await #expect(processExitsWith: .success) { [tool = folder.file("secret-tool") as String] in
                let helper = KeyringHelper(descriptor: try #require(Self.start(tool, "/home/alice/state")))
                #expect(helper.run(.lookup, input: [])?.status == 1)
                #expect(helper.run(.store, input: Array("the key".utf8))?.status == 0)
                let found = try #require(helper.run(.lookup, input: []))
                #expect(found.status == 0 && String(decoding: found.output, as: UTF8.self) == "the key")
                #expect(helper.run(.clear, input: [])?.status == 0)
                #expect(helper.run(.lookup, input: [])?.status == 1)
                #expect(helper.run(.search, input: [])?.status == 0)
            }
            let log = try String(contentsOfFile: folder.file("log"), encoding: .utf8)
            let lines = log.split(separator: "\n")
            #expect(
                lines.prefix(2) == [
                    "lookup application sso-agent store /home/alice/state",
                    "store --label=sso-agent application sso-agent store /home/alice/state",
                ])
            #expect(lines.last == "search --all application sso-agent store /home/alice/state")
        }

        /// An attacker in the agent's process can send the helper anything.
        @Test func runsNothingButTheKeyring() async throws {
            let folder = try await keyring()
            await #expect(processExitsWith: .success) { [tool = folder.file("secret-tool") as String] in
                let helper = try #require(Self.start(tool, "/state"))
                var output = [UInt8](repeating: 0, count: Int(AGENT_KEYRING_LIMIT))
                var status: Int32 = 0
                for operation in [0, 5, -1, .max] as [Int32] {
                    #expect(agent_call_keyring_helper(helper, operation, "sh -c id", 8, &output, &status) == 0)
                    #expect(status == -1)
                }
                for request in [[1], Array(repeating: 0xFF, count: 8)] as [[UInt8]] {
                    _ = send(helper, request, request.count, Int32(MSG_NOSIGNAL))
                }
                #expect(agent_call_keyring_helper(helper, 1, "", 0, &output, &status) == 0 && status == 1)
            }
            #expect(
                try String(contentsOfFile: folder.file("log"), encoding: .utf8)
                    == "lookup application sso-agent store /state\n")
        }

        /// A program that goes on to wait at a prompt would save its text when that is answered, in the place of the next agent's key.
        @Test func endsTheProgramWithTheAgent() async throws {
            let folder = try TemporaryFolder()
            let (begun, running) = (folder.file("begun"), folder.file("running"))
            for pipe in [begun, running] { #expect(mkfifo(pipe, 0o600) == 0) }
            // With another program, since a script may have started one that waits.
            let tool = try await folder.makeProgram(
                "secret-tool", "exec 3>\"\(running)\"; echo >\"\(begun)\"; sleep 1000; true")
            let watch = open(running, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            try #require(watch >= 0)
            defer { close(watch) }
            await #expect(processExitsWith: .success) { [tool = tool as String, begun = begun as String] in
                let helper = KeyringHelper(descriptor: try #require(Self.start(tool, "/state")))
                Thread.detachNewThread { _ = helper.run(.store, input: Array("no key\n".utf8)) }
                _ = try FileHandle(forReadingFrom: URL(filePath: begun)).readToEnd()
            }
            let hasEnded = try await offPool {
                var event = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
                return poll(&event, 1, 30_000) == 1 && event.revents & Int16(POLLHUP) != 0
            }
            #expect(hasEnded)
        }

        /// `secret-tool` writes the attributes of what it finds to the standard error, which is the agent's log.
        @Test func writesNothingOfASearchToTheStandardError() async throws {
            let folder = try TemporaryFolder()
            let tool = try await folder.makeProgram("secret-tool", #"echo "did $1" >&2"#)
            let ended = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                [tool = tool as String] in
                let helper = KeyringHelper(descriptor: try #require(Self.start(tool, "/state")))
                #expect(helper.run(.search, input: [])?.status == 0)
                #expect(helper.run(.lookup, input: [])?.status == 0)
            }
            let errors = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
            #expect(errors.contains("did lookup") && !errors.contains("did search"), "\(errors)")
        }

        @Test func saysThatTheProgramIsMissing() async {
            await #expect(processExitsWith: .success) {
                let helper = KeyringHelper(
                    descriptor: try #require(Self.start("/nonexistent/secret-tool", "/state")))
                #expect(helper.run(.lookup, input: [])?.status == KeyringHelper.notStarted)
            }
        }

        /// Starts a helper, and returns its socket for the keyring.
        private static func start(_ tool: String, _ store: String) -> Int32? {
            var lanes = [Int32](repeating: -1, count: Int(AGENT_LANES))
            let code = tool.withCString { tool in
                store.withCString { store in
                    var settings = agent_helper_settings(
                        secret_tool: tool, store: store, askpass: nil, executables: nil)
                    return agent_start_helper(&settings, &lanes)
                }
            }
            return code == 0 ? lanes[Int(AGENT_LANE_KEYRING)] : nil
        }

        /// A keyring in a file.
        private func keyring() async throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            _ = try await folder.makeProgram(
                "secret-tool",
                """
                echo "$@" >>"\(folder.path)/log"
                case $1 in
                store) cat >"\(folder.path)/secret" ;;
                lookup) cat "\(folder.path)/secret" ;;
                clear) rm "\(folder.path)/secret" ;;
                esac
                """)
            return folder
        }
    }
#endif
