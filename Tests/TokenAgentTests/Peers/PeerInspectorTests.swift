internal import AccessPolicy
internal import AgentSocket
internal import CAgentSystem
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import PosixFiles
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

#if os(Linux)
    /// Real processes as peers.
    @Suite(.bounded) struct PeerInspectorTests {
        private func identify(_ processID: Int32, naming path: String? = nil) -> PeerIdentity? {
            let inspector = PeerInspector(
                executables: Set([path].compactMap(\.self).map(ExactText.init)), helper: nil, timers: .system)
            defer { inspector.stop() }
            return inspector.identify(
                PeerCredentials(processID: processID, userID: geteuid()), pidfd: -1)
        }

        /// Otherwise every process would be refused as one of which nothing is known.
        @Test func needsAKernelThatIdentifiesProcesses() throws {
            let unknown: (Int32) -> Int32 = { _ in
                errno = ENOSYS
                return -1
            }
            let error = #expect(throws: TokenError.self) {
                try ResourceLimits.requireProcessDescriptors(unknown) { false }
            }
            #expect(error?.code == .agentUnavailable && error?.message.contains("Linux 5.3") == true)
            try ResourceLimits.requireProcessDescriptors(unknown) { true }
            try ResourceLimits.requireProcessDescriptors()
        }

        @Test func describesAProgramOfTheSystem() async throws {
            let process = try TestProcess("/usr/bin/env", ["sh", "-c", "echo ready; exec sleep 1000"])
            try await process.waitForOutput("ready")
            var peer = try #require(identify(process.processID))
            // The shell prints before it becomes the other program.
            while peer.executable?.path.hasSuffix("/sleep") != true {
                peer = try #require(identify(process.processID))
            }
            let path = try #require(peer.executable?.path)
            #expect(peer.peerClass == .installed && peer.sandbox == nil && peer.startTime != nil)
            #expect(peer.executable?.isAtPath == false)
            #expect(identify(process.processID, naming: path)?.executable?.isAtPath == true)
            try await process.killHard()
        }

        @Test func tellsAProgramOfTheUserFromAnInstalledOne() async throws {
            let folder = try TemporaryFolder()
            let program = folder.file("notes")
            // By another process, as in `makeProgram`.
            _ = try await TestProcess("/bin/sh", ["-c", "cp /bin/sleep \"$0\" && chmod 777 \"$0\"", program]).finish()
            let process = try TestProcess(program, ["1000"])
            while identify(process.processID)?.executable?.path != program { sched_yield() }
            #expect(identify(process.processID)?.peerClass == .other)
            // Its file has been replaced or removed: nothing is known of the program any more.
            try FileManager.default.removeItem(atPath: program)
            #expect(identify(process.processID, naming: program)?.executable == nil)
            #expect(identify(process.processID)?.peerClass == .other)
            try await process.killHard()
        }

        /// The process may have passed its end of the connection to any other one.
        @Test func knowsNothingOfAProcessThatHasEnded() async throws {
            let process = try TestProcess("/bin/true")
            _ = try await process.finish()
            #expect(identify(process.processID) == nil)
        }

        /// The ID of a process that has ended can be another one's when it is read.
        @Test func believesNothingOfAnIDWhoseProcessHasEnded() async throws {
            let process = try TestProcess("/bin/sleep", ["1000"])
            let pidfd = try PosixFiles.FileDescriptor(opened: agent_open_pidfd(process.processID))
            let reader = PeerReader(executables: [], helper: nil)
            #expect(throws: Never.self) { try reader.facts(of: getpid(), pidfd).get() }
            try await process.killHard()
            #expect(throws: SystemError(number: ESRCH)) { try reader.facts(of: getpid(), pidfd).get() }
            #expect(reader.flatpak(of: getpid(), pidfd) == nil)
        }

        /// As for a kernel without SO_PEERPIDFD, on which a process ID may have been reused by another user's process since `connect`.
        @Test func takesNoProcessOfAnotherUserForThePeer() {
            let inspector = PeerInspector(executables: [], helper: nil, timers: .system)
            defer { inspector.stop() }
            let other = PeerCredentials(processID: getpid(), userID: geteuid() + 1)
            #expect(inspector.identify(other, pidfd: -1) == nil)
            // The kernel's descriptor is of the peer, which may have become another user since.
            #expect(inspector.identify(other, pidfd: agent_open_pidfd(getpid()))?.processID == getpid())
        }

        @Test func countsAnUnknownProcessAsSandboxed() {
            let inspector = PeerInspector(executables: [], helper: nil, timers: .system)
            defer { inspector.stop() }
            let outside = PeerCredentials(processID: nil, userID: 0)
            #expect(inspector.identify(outside, pidfd: -1)?.peerClass == .sandboxed)
        }

        @Test(.enabled(if: Sandbox.isPossible, "only root can make a sandbox without the user's namespaces"))
        func namesTheAppOfAFlatpak() async throws {
            let sandbox = try await Sandbox.start(info: "[Application]\nname=org.contoso.Notes\n")
            #expect(identify(try sandbox.processID)?.sandbox == .init(app: "flatpak:org.contoso.Notes"))
            try await sandbox.stop()
        }

        /// Flatpak mounts the file read-only; a container can only write one.
        @Test(.enabled(if: Sandbox.isPossible, "only root can make a sandbox"), arguments: Sandbox.Info.allCases)
        func trustsOnlyAFileThatTheSandboxCannotWrite(kind: Sandbox.Info) async throws {
            let sandbox = try await Sandbox.start(info: "[Application]\nname=org.contoso.Notes\n", kind: kind)
            let expected = kind == .mounted ? "flatpak:org.contoso.Notes" : nil
            #expect(identify(try sandbox.processID)?.sandbox == .init(app: expected))
            try await sandbox.stop()
        }

        /// One thread reads the files of sandboxes, whose other connections wait for it.
        @Test(.enabled(if: Sandbox.isPossible, "only root can make a sandbox"))
        func namesTheAppOfEachOfManyConnections() async throws {
            let sandbox = try await Sandbox.start(info: "[Application]\nname=org.contoso.Notes\n")
            // Without a time limit, which many connections may reach on a slow machine.
            let inspector = PeerInspector(executables: [], helper: nil, timers: Timers { _, _, _ in Timers.Timer {} })
            defer { inspector.stop() }
            let credentials = PeerCredentials(processID: try sandbox.processID, userID: geteuid())
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            let peers = try await loop.flatSubmit {
                let peers = (1...100).map { number in
                    inspector.identify(
                        credentials, pidfd: -1, for: Identification(of: .process(number)) {}, on: loop)
                }
                return EventLoopFuture.whenAllSucceed(peers, on: loop)
            }.get()
            for peer in peers { #expect(peer?.sandbox == .init(app: "flatpak:org.contoso.Notes")) }
            try await sandbox.stop()
        }

        /// A sandbox that may mount file systems can mount one of its terminals, whose keys would then end the helper.
        @Test(.enabled(if: Sandbox.isPossible, "only root can make a sandbox"))
        func takesNoTerminalInThePlaceOfTheFile() async throws {
            let folder = try TemporaryFolder()
            let script = """
                from os import chroot, ttyname
                from pty import openpty
                from subprocess import run
                from sys import argv
                from time import sleep
                root = argv[1]
                own, other = openpty()
                open(root + "/.flatpak-info", "w").close()
                run(["mount", "--bind", ttyname(other), root + "/.flatpak-info"], check=True)
                chroot(root)
                print("ready", flush=True)
                sleep(1000)
                """
            let process = try TestProcess(
                "/usr/bin/env", ["unshare", "--mount", "python3", "-c", script, folder.path])
            try await process.waitForOutput("ready")
            // In a process of its own, which leads a session without a terminal, as the helper does.
            await #expect(processExitsWith: .success) { [id = process.processID as Int32] in
                setsid()
                guard getsid(0) == getpid(), open("/dev/tty", O_RDONLY) < 0 else { exit(3) }
                var text = [CChar](repeating: 0, count: 64)
                guard agent_read_flatpak_info(id, &text, text.count) == -EPERM else { exit(4) }
                guard open("/dev/tty", O_RDONLY) < 0 else { exit(5) }
            }
            try await process.killHard()
        }

        /// The threads may be blocked for as long as the helper, or the file system of a program, does not answer.
        @Test func keepsNoDescriptorOfAProcessThatIsNotDescribedInTime() async throws {
            // The time is over before a thread can begin.
            let timers = Timers { _, _, work in
                work()
                return Timers.Timer {}
            }
            let inspector = PeerInspector(executables: [], helper: nil, timers: timers)
            defer { inspector.stop() }
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            let credentials = PeerCredentials(processID: getpid(), userID: geteuid())
            // A process that another test is starting has a copy of the descriptor for a moment.
            for _ in 1...3 {
                // The other end shows whether the descriptor is closed.
                let ends = try PipeEnds()
                let (descriptor, other) = (ends.read, ends.write)
                defer { close(other) }
                let (peer, isClosed) = try await loop.submit {
                    let peer = inspector.identify(
                        credentials, pidfd: descriptor, for: Identification(of: .process(getpid())) {}, on: loop)
                    var event = pollfd(fd: other, events: 0, revents: 0)
                    return (peer, poll(&event, 1, 0) == 1 && event.revents & Int16(POLLERR) != 0)
                }.get()
                #expect(try await peer.get()?.peerClass == .sandboxed)
                if isClosed { return }
            }
            Issue.record("the descriptor is open")
        }

        /// A process that connects faster than it is identified would use up the agent's descriptors.
        @Test func keepsNoDescriptorOfAConnectionThatIsAbandonedBefore() async throws {
            let inspector = PeerInspector(executables: [], helper: nil, timers: Timers { _, _, _ in Timers.Timer {} })
            defer { inspector.stop() }
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            let credentials = PeerCredentials(processID: getpid(), userID: geteuid())
            // As above.
            for _ in 1...3 {
                let ends = try PipeEnds()
                let (descriptor, other) = (ends.read, ends.write)
                defer { close(other) }
                let identification = Identification(of: .process(getpid())) {}
                identification.abandon()
                let identity = try await loop.flatSubmit {
                    inspector.identify(credentials, pidfd: descriptor, for: identification, on: loop)
                }.get()
                #expect(identity == nil)
                var event = pollfd(fd: other, events: 0, revents: 0)
                if poll(&event, 1, 0) == 1 && event.revents & Int16(POLLERR) != 0 { return }
            }
            Issue.record("the descriptor is open")
        }

        /// Its time may be over while its program is described. The Flatpak's file would be read next, which may never come, and no time
        /// limit would show that.
        @Test func goesOnWithNothingAfterItsTime() throws {
            let ends = try PipeEnds()
            defer { close(ends.write) }
            let identification = Identification(of: .process(getpid())) {}
            #expect(identification.begin() == -1)
            identification.end()
            // Closes the descriptor.
            identification.hold(ends.read)
            #expect(identification.begin() == nil)
            #expect(!identification.isAbandoned)
        }

        /// A process that connects again and again delays its own connections.
        @Test func letsPeersTakeTurns() async throws {
            let inspector = PeerInspector(executables: [], helper: nil, timers: .system)
            defer { inspector.stop() }
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            let credentials = PeerCredentials(processID: getpid(), userID: geteuid())
            @Sendable func identify(of peer: PeerKey) -> EventLoopFuture<PeerIdentity?> {
                inspector.identify(credentials, pidfd: -1, for: Identification(of: peer) {}, on: loop)
            }
            // The threads work meanwhile: on a busy machine they may be done before the other peer comes.
            for _ in 1...20 {
                let before = try await loop.flatSubmit {
                    let crowd = NIOLoopBoundBox(0, eventLoop: loop)
                    let all = (1...1000).map { _ in
                        identify(of: .process(1)).map { _ in crowd.value += 1 }
                    }
                    let other = identify(of: .process(2)).map { _ in crowd.value }
                    return EventLoopFuture.andAllSucceed(all, on: loop).flatMap { other }
                }.get()
                if before < 500 { return }
            }
            Issue.record("the other peer waited for the connections of the first one")
        }
    }
#endif
