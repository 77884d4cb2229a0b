internal import AccessPolicy
internal import AgentSocket
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import TokenAgent

#if os(Linux)
    /// Peers that hide their root directory and their program, as a process does that is not dumpable. Root sees both all the same: the
    /// peers and the process that identifies them are another user's.
    @Suite(.bounded, .enabled(if: OtherUser.isPossible, "only root can become another user"))
    struct HiddenRootTests {
        /// The script of a process that is not dumpable, prints `ready`, and waits.
        ///
        /// - Parameter first: a statement before that, in which `libc` is the C library.
        private static func hidden(_ first: String = "pass") -> String {
            """
            exec python3 -c 'import ctypes, time
            libc = ctypes.CDLL(None)
            \(first)
            assert libc.prctl(4, 0, 0, 0, 0) == 0
            print("ready", flush=True)
            time.sleep(1000)'
            """
        }

        @Test func countsAnOrdinaryProcessAsOne() async throws {
            try await expect(.other, of: OtherUser.start(Self.hidden()))
        }

        /// As in a container that a user has started with the process IDs of the host: Toolbox and Distrobox do that.
        ///
        /// The user may trace a process whose program was started in the namespace. This one enters it later (`CLONE_NEWUSER`); a program
        /// that the namespace cannot read has the same effect.
        @Test(
            .enabled("users have to be able to create namespaces") { try await OtherUser.canBeRootOfANamespace() })
        func countsAProcessInAUserNamespaceAsSandboxed() async throws {
            try await expect(
                .sandboxed, of: OtherUser.start(Self.hidden("assert libc.unshare(0x10000000) == 0")))
        }

        /// As in a container that root has started with the process IDs of the host.
        @Test func countsAProcessWithFewerCapabilitiesAsSandboxed() async throws {
            let process = try TestProcess(
                "/usr/bin/env",
                ["setpriv", "--bounding-set=-sys_admin"] + OtherUser.command + ["bash", "-c", Self.hidden()])
            try await expect(.sandboxed, of: process)
        }

        /// Whether process 1 gains no privileges, as in some containers: the mark then says nothing about the others.
        private static var isInSuchAContainer: Bool {
            (try? String(contentsOfFile: "/proc/1/status", encoding: .utf8))?.contains("NoNewPrivs:\t1") ?? false
        }

        @Test(.disabled(if: isInSuchAContainer, "what process 1 has too is no mark"))
        func countsAProcessThatGainsNoPrivilegesAsSandboxed() async throws {
            let process = try TestProcess(
                "/usr/bin/env", ["setpriv", "--no-new-privs"] + OtherUser.command + ["bash", "-c", Self.hidden()])
            try await expect(.sandboxed, of: process)
        }

        private func expect(_ peerClass: PeerClass, of process: TestProcess) async throws {
            try await process.waitForOutput("ready")
            // In a process of its own, which becomes the other user.
            await #expect(processExitsWith: .success) {
                [id = process.processID as Int32, isSandboxed = (peerClass == .sandboxed) as Bool] in
                guard setgroups(0, nil) == 0, setgid(OtherUser.id) == 0, setuid(OtherUser.id) == 0 else { exit(3) }
                let inspector = PeerInspector(executables: [], helper: nil, timers: .system)
                let credentials = PeerCredentials(processID: id, userID: OtherUser.id)
                guard let peer = inspector.identify(credentials, pidfd: -1), peer.executable == nil else { exit(4) }
                guard peer.peerClass == (isSandboxed ? .sandboxed : .other) else { exit(5) }
            }
            try await process.killHard()
        }
    }
#endif
