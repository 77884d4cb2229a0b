internal import AccessPolicy
internal import CAgentSystem
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenStore

#if os(Linux)
    /// The helper's requests, as an attacker in the agent's process can send them. Each test is a process of its own, since the
    /// helper is a copy of the process that starts it.
    @Suite(.bounded, .disabled(if: Sanitizer.isOfThreads, "it runs no copies of a process")) struct HelperProcessTests {
        /// Starts a helper that asks with the program of a folder.
        private static func start(_ folder: String) throws -> HelperProcess {
            try #require(
                HelperProcess(
                    secretTool: "/nonexistent", store: "/state", askpass: folder + "/askpass", executables: []))
        }

        @Test func describesAProcess() async throws {
            let folder = try TemporaryFolder()
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                let helper = try Self.start(path)
                var found = agent_process()
                #expect(agent_ask_to_describe(helper.inspection[0], getpid(), &found) == 0)
                #expect(found.has_same_root == 1 && found.has_executable == 1)
            }
        }

        @Test func describesNothingButAProcess() async throws {
            let folder = try TemporaryFolder()
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                let helper = try Self.start(path)
                let lane = helper.inspection[0]
                var found = agent_process()
                var text = [CChar](repeating: 0, count: 64)
                for processID in [0, -1, Int32.min, Int32.max] {
                    #expect(agent_ask_to_describe(lane, processID, &found) == ESRCH)
                    #expect(agent_ask_for_flatpak_info(lane, processID, &text, text.count) < 0)
                }
                // A process outside of a sandbox has no such file.
                #expect(agent_ask_for_flatpak_info(lane, getpid(), &text, text.count) < 0)
                // Messages of other lengths get an answer each, and change nothing.
                for length in [1, 4, 8, 9, 70_000] {
                    let message = [UInt8](repeating: 1, count: length)
                    #expect(send(lane, message, length, Int32(MSG_NOSIGNAL)) == length)
                    #expect(recv(lane, &text, text.count, 0) == 4)
                }
                #expect(agent_ask_to_describe(lane, getpid(), &found) == 0)
            }
        }

        /// The kernel counts the descriptors that wait in sockets for the user: a process of the user's, also in a sandbox, can leave so
        /// many there that nobody passes any.
        @Test func describesProcessesWhenTheKernelPassesNoMoreDescriptors() async throws {
            let folder = try TemporaryFolder()
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                // The kernel passes those of root in any case, and counts those of all processes of a user.
                let user = geteuid() == 0 ? 100_000 + UInt32(getpid()) : geteuid()
                try #require(chown(path, user, gid_t.max) == 0 && setuid(user) == 0)
                // One that the user may inspect, as it has begun with this user ID.
                let peer = Process()
                peer.executableURL = URL(filePath: "/bin/cat")
                peer.standardInput = Pipe()
                try peer.run()
                defer { peer.terminate() }
                // Beside those that are open here: also what other tests had open when this process began.
                let free = rlim_t(try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count + 64)
                var limit = rlimit(rlim_cur: free, rlim_max: free)
                try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                let helper = try Self.start(path)
                var parked: [Int32] = []
                repeat {
                    var pair: [Int32] = [-1, -1]
                    try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &pair) == 0)
                    parked += pair
                    for _ in 0..<100 { agent_send_with_descriptor(pair[0], "x", 1, pair[0], 0) }
                } while agent_send_with_descriptor(parked[0], "x", 1, parked[0], 0) >= 0
                try #require(errno == ETOOMANYREFS)

                var found = agent_process()
                #expect(agent_ask_to_describe(helper.inspection[0], peer.processIdentifier, &found) == 0)
                #expect(found.has_same_root == 1 && found.has_executable == 1)
                // This one has to be passed. It ends, and leaves no file.
                let made = agent_ask_to_make_socket(helper.publication, path + "/x", [user], 1)
                #expect(made == -ETOOMANYREFS && access(path + "/x", F_OK) != 0)
                for descriptor in parked { close(descriptor) }
                #expect(agent_ask_to_make_socket(helper.publication, path + "/x", [user], 1) >= 0)
            }
        }

        @Test func asksNoQuestionThatATerminalWouldObey() async throws {
            let folder = try TemporaryFolder()
            _ = try await folder.makeProgram("askpass", "echo \"$SSH_ASKPASS_PROMPT:$1\" >>'\(folder.path)/asked'")
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                let lane = try Self.start(path).confirmation
                for question in ["a\u{1B}[2J", "a\nb", "a\u{7F}", "a\u{9B}2J"] {
                    #expect(agent_send_question(lane, 1, 1, question) == 0 && agent_receive_answer(lane) == 0)
                }
                #expect(agent_send_question(lane, 1, 1, String(repeating: "x", count: 1025)) == EINVAL)
                for length in [1, 12, 16, 5_000] {
                    let message = [UInt8](repeating: 0x1B, count: length)
                    #expect(send(lane, message, length, Int32(MSG_NOSIGNAL)) == length)
                    var answer: Int32 = -1
                    #expect(recv(lane, &answer, 4, 0) == 4 && answer == 0)
                }
                // A withdrawal that comes too late ends no other question.
                agent_withdraw_question(lane)
                #expect(agent_send_question(lane, 1, 1, "process 1 asks; $(id)") == 0)
                #expect(agent_receive_answer(lane) == 1)
            }
            let asked = try String(contentsOfFile: folder.file("asked"), encoding: .utf8)
            #expect(asked == "confirm:sso-agent: process 1 asks; $(id)\n")
        }

        /// Programs of a session find its D-Bus by the runtime folder, for which cron and `su` set no variable.
        @Test func tellsItsProgramsTheRuntimeFolder() async throws {
            let folder = try TemporaryFolder()
            let tool = try await folder.makeProgram("secret-tool", "echo \"$XDG_RUNTIME_DIR\" >'\(folder.path)/told'")
            await #expect(processExitsWith: .success) { [tool = tool as String] in
                unsetenv("XDG_RUNTIME_DIR")
                let helper = try #require(
                    HelperProcess(
                        secretTool: tool, store: "/state", askpass: nil, executables: [],
                        runtimeDirectory: "/run/user/7"))
                #expect(getenv("XDG_RUNTIME_DIR") == nil)
                #expect(helper.keyring.run(.lookup, input: [])?.status == 0)
            }
            #expect(try String(contentsOfFile: folder.file("told"), encoding: .utf8) == "/run/user/7\n")
        }

        /// A terminal, which the person would be told to use, helps as little as the program that is configured.
        @Test func isMissedByRequestsThatAPersonHasToConfirm() async throws {
            let folder = try TemporaryFolder()
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                let helper = try Self.start(path)
                // Ends the helper, as its own end would end these sockets.
                for lane in [helper.confirmation, helper.publication] + helper.inspection {
                    try #require(shutdown(lane, Int32(SHUT_RDWR)) == 0)
                }
                let confirmer = Confirmer(askpass: path + "/askpass", helper: helper)
                let request = PolicyRequest(name: "set_key", subject: RequestSubject(isLimitedToApp: false))
                let peer = PeerIdentity(userID: geteuid(), processID: 1, startTime: 1)
                let loop = MultiThreadedEventLoopGroup.singleton.any()
                let outcome = try await confirmer.ask(request, from: peer, on: loop).get()
                guard case .failure(let error) = outcome else {
                    Issue.record("confirmed by nobody")
                    return
                }
                #expect(error.code == .requestDenied)
                #expect(error.message.hasSuffix("has ended; restart sso-agent"))
            }
        }

        @Test func makesSocketsInFoldersOfTheUserOnly() async throws {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(
                atPath: folder.file("open"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o777])
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.file("open"))
            try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.path)
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                let lane = try Self.start(path).publication
                let user = [geteuid()]
                func make(_ path: String, _ users: [UInt32]) -> Int32 {
                    agent_ask_to_make_socket(lane, path, users, Int32(users.count))
                }
                for wrong in [
                    "relative", "", "/", "//x", path + "/", path + "/./x", path + "/../x", path + "//x", "/tmp/x",
                    path + "/open/x", path + "/link/x", path + "/missing/x", "/proc/self/fd/x",
                    "/" + String(repeating: "x", count: 104),
                ] { #expect(make(wrong, user) < 0, "\(wrong)") }
                #expect(make(path + "/x", []) == -EINVAL)
                #expect(make(path + "/x", Array(0..<17)) == -EINVAL)
                let made = make(path + "/x", user)
                #expect(made >= 0)
                #expect(make(path + "/x", user) == -EADDRINUSE)
                for number in 1...15 { #expect(make("\(path)/\(number)", user) >= 0) }
                #expect(make(path + "/17", user) == -EMFILE)
                // Only what the helper has made is removed.
                close(open(path + "/file", O_CREAT | O_WRONLY, 0o600))
                agent_ask_to_remove_socket(lane, path + "/file")
                agent_ask_to_remove_socket(lane, path + "/x")
                #expect(access(path + "/file", F_OK) == 0 && access(path + "/x", F_OK) != 0)
                // Messages of other lengths, and unknown operations, get an answer each.
                for length in [1, 4, 72, 70_000] {
                    let message = [UInt8](repeating: 1, count: length)
                    #expect(send(lane, message, length, Int32(MSG_NOSIGNAL)) == length)
                    var reply: Int32 = 0
                    #expect(recv(lane, &reply, 4, 0) == 4 && reply == -EINVAL)
                }
                #expect(make(path + "/x", user) >= 0)
            }
        }

        /// A person would confirm a socket that cannot be made.
        @Test func makesSocketsForAsManyUsersAsARequestMayHave() {
            #expect(PublishSocket.maximumUsers == Int(AGENT_SOCKET_USERS))
        }

        /// Another program of the user may listen there by now.
        @Test func removesNoSocketThatHasReplacedItsOwn() async throws {
            let folder = try TemporaryFolder()
            await #expect(processExitsWith: .success) { [path = folder.path as String] in
                let lane = try Self.start(path).publication
                let (own, other) = (path + "/x", path + "/y")
                for place in [own, other] {
                    try #require(agent_ask_to_make_socket(lane, place, [geteuid()], 1) >= 0)
                }
                try #require(rename(other, own) == 0)
                agent_ask_to_remove_socket(lane, own)
                #expect(access(own, F_OK) == 0)
            }
        }
    }
#endif

/// The users that the agent can tell apart.
@Suite(.bounded) struct UserNamespaceTests {
    @Test func hasTheUsersOfTheMap() {
        let container = UserNamespace(map: "         0       1000          1\n         1     100000      65536\n")
        for user in [0, 1, 65536] as [UInt32] { #expect(container.contains(user)) }
        for user in [65537, 100_000, .max] as [UInt32] { #expect(!container.contains(user)) }
        // The whole machine, and the unit's `PrivateUsers=yes`.
        #expect(UserNamespace(map: "         0          0 4294967295\n").contains(65534))
        let unit = UserNamespace(map: "      1000       1000          1\n")
        #expect(unit.contains(1000) && !unit.contains(65534) && !unit.contains(0))
    }

    @Test(arguments: ["", "x", "0 0", "0 0 x", "-1 0 5", "99999999999999999999 0 1", "0 0 99999999999"])
    func hasNoUserOfALineThatIsNoMap(map: String) { #expect(!UserNamespace(map: map).contains(0)) }
}
