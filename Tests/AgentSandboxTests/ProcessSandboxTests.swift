internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import AgentSandbox

/// What a process may still do in the sandbox. Each test restricts a process of its own.
#if os(Linux)
    @Suite(.bounded) struct ProcessSandboxTests {
        @Test(.enabled(if: Landlock.isAvailable, "the kernel has no Landlock"))
        func readsTheSystemAndWritesItsOwnFolderOnly() async throws {
            let folder = try TemporaryFolder()
            let own = folder.file("own")
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
            try Data("secret".utf8).write(to: URL(filePath: folder.file("id_ed25519")))
            await #expect(processExitsWith: .success) { [own = own as String, other = folder.path as String] in
                try #require(Self.enter(folders: [own]).restrictsFiles)
                #expect(Self.opens("/etc/passwd", O_RDONLY) == 0)
                #expect(Self.opens(own + "/a", O_CREAT | O_RDWR) == 0)
                #expect(rename(own + "/a", own + "/b") == 0 && unlink(own + "/b") == 0)
                #expect(Self.opens(own, O_RDONLY | O_DIRECTORY) == 0)
                #expect(Self.opens(other + "/id_ed25519", O_RDONLY) == EACCES)
                #expect(Self.opens(other + "/new", O_CREAT | O_RDWR) == EACCES)
                #expect(Self.opens(other, O_RDONLY | O_DIRECTORY) == EACCES)
                #expect(Self.opens("/etc/passwd", O_WRONLY) == EACCES)
                #expect(unlink(other + "/id_ed25519") == -1)
                #expect(mkdir(own + "/folder", 0o700) == -1)
            }
        }

        @Test func startsNoPrograms() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
                var child = pid_t()
                #expect(posix_spawn(&child, "/bin/true", nil, nil, &arguments, environ) == EPERM)
                #expect(execv("/bin/true", &arguments) == -1 && errno == EPERM)
            }
        }

        /// The listener for redirects asks the kernel for the users of its connections, over netlink.
        @Test func hasTheSocketsThatItNeedsOnly() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                let (stream, raw) = (Int32(SOCK_STREAM.rawValue), Int32(SOCK_RAW.rawValue))
                for family in [AF_UNIX, AF_INET, AF_INET6] { #expect(socket(family, stream, 0) >= 0) }
                let (route, diagnosis, packetFilter) = (Int32(0), Int32(4), Int32(12))
                #expect(socket(AF_NETLINK, raw, diagnosis) >= 0 && socket(AF_NETLINK, raw, route) >= 0)
                #expect(socket(AF_NETLINK, raw, packetFilter) == -1)
                for family in [AF_PACKET, AF_VSOCK, AF_ALG] { #expect(socket(family, stream, 0) == -1) }
            }
        }

        /// Otherwise it could ask the bus of the user's session to start programs.
        @Test func connectsToNoServiceOfTheSessionOnceItListens() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                let stream = Int32(SOCK_STREAM.rawValue)
                let listener = socket(AF_UNIX, stream, 0)
                #expect(Self.sandbox().closeUnixSockets())
                #expect(socket(AF_UNIX, stream, 0) == -1 && errno == EACCES)
                #expect(fcntl(listener, F_GETFD) >= 0 && socket(AF_INET, stream, 0) >= 0)
                var ends: [Int32] = [0, 0]
                #expect(socketpair(AF_UNIX, stream, 0, &ends) == 0)
            }
        }

        @Test func makesNoMemoryExecutable() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                let flags = MAP_PRIVATE | MAP_ANONYMOUS
                #expect(mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0) == MAP_FAILED)
                let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, flags, -1, 0)
                #expect(page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == -1)
            }
        }

        /// Landlock restricts neither mode nor owner, with which code in the agent could open the user's files to others.
        @Test func changesNoModeOfAFileByItsPath() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("id_ed25519")
            try Data("secret".utf8).write(to: URL(filePath: file))
            #expect(chmod(file, 0o600) == 0)
            await #expect(processExitsWith: .success) { [folder = folder.path as String] in
                try #require(Self.enter(folders: [folder]).restrictsCalls)
                let file = folder + "/id_ed25519"
                #expect(chmod(file, 0o644) == -1 && errno == EPERM)
                #expect(fchmodat(AT_FDCWD, file, 0o644, 0) == -1 && errno == EPERM)
                #expect(chown(file, getuid(), getgid()) == -1 && errno == EPERM)
                #expect(lchown(file, getuid(), getgid()) == -1 && errno == EPERM)
                let own = open(file, O_RDWR)
                #expect(own >= 0 && fchmod(own, 0o400) == 0)
                var limit = rlimit()
                #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            }
            #expect(try TemporaryFolder.mode(of: file) == 0o400)
        }

        /// libcurl is loaded when the first request is sent, and resolves names on threads of its own.
        @Test(.enabled(if: Landlock.isAvailable, "the kernel has no Landlock"))
        func loadsLibrariesAndStartsThreads() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().isComplete)
                #expect(dlopen("libcurl.so.4", RTLD_NOW) != nil)
                let thread = Thread { _ = Self.opens("/etc/hosts", O_RDONLY) }
                thread.start()
                while !thread.isFinished { sched_yield() }
            }
        }

        @Test func leavesTheMachineAlone() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                // Root could do these; the kernel refuses them before it looks at the arguments.
                #expect(chroot("/") == -1 && errno == EPERM)
                #expect(mount("none", "/nowhere", "tmpfs", 0, nil) == -1 && errno == EPERM)
                #expect(umount2("/nowhere", 0) == -1 && errno == EPERM)
                #expect(sethostname("name", 4) == -1 && errno == EPERM)
            }
        }

        /// Opening a file for writing is one right, and shortening it by its path another one.
        @Test(.enabled(if: Landlock.version >= 3, "Landlock refuses it since Linux 6.2"))
        func shortensNoFileOfOthers() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("id_ed25519")
            try Data("secret".utf8).write(to: URL(filePath: file))
            await #expect(processExitsWith: .success) { [file = file as String] in
                try #require(Self.enter().restrictsFiles)
                #expect(truncate(file, 0) == -1 && errno == EACCES)
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "secret")
        }

        @Test(.enabled(if: Landlock.version >= 6, "Landlock refuses it since Linux 6.12"))
        func sendsNoSignalToOtherProcesses() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsFiles)
                #expect(kill(getppid(), 0) == -1 && errno == EPERM)
            }
        }

        /// A limit of processor time would end another process as a signal does.
        @Test func limitsNoOtherProcess() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                let processorTime = 0
                #expect(Self.error(of: "prlimit", Int(getppid()), processorTime) == EPERM)
                #expect(Self.error(of: "prlimit", 0, processorTime) == 0)
            }
        }

        /// The shell that has started the agent would run the characters as a command.
        @Test func typesNothingIntoATerminal() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                // TIOCSTI, which is refused before the descriptor is looked at, and FIONREAD.
                #expect(Self.error(of: "ioctl", -1, 0x5412) == EPERM)
                #expect(Self.error(of: "ioctl", -1, 0x541B) == EBADF)
            }
        }

        /// Otherwise code in the agent could open its memory to every other process of the user.
        @Test func letsNoProcessLookIntoItsMemory() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                let (setDumpable, getDumpable) = (4, 3)
                #expect(Self.error(of: "prctl", setDumpable, 1) == EPERM)
                #expect(Self.error(of: "prctl", getDumpable) == 0)
            }
        }

        /// Not even its own, which the kernel would let it read.
        @Test func readsNoMemoryOfAProcess() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                #expect(Self.error(of: "process_vm_readv", Int(getpid())) == EPERM)
            }
        }

        /// As root of a user namespace of its own, it could have further parts of the kernel work for it.
        @Test func makesNoNamespace() async {
            await #expect(processExitsWith: .success) {
                try #require(Self.enter().restrictsCalls)
                // The kernel has no such namespace, which it would look at next.
                #expect(Self.error(of: "unshare", 1) == EPERM)
            }
        }

        // MARK: The rules

        @Test func readsTheFolderOfAFileThatMayBeReplaced() {
            let files = ["/home/alice/ca.pem", "/data/alice/ca.pem", "/people/alice/ca.pem"]
            let sandbox = Self.sandbox(files: ["/srv/certificates/ca.pem"] + files)
            #expect(sandbox.rules.contains(.init(path: "/srv/certificates", access: .read)))
            for file in files { #expect(sandbox.rules.contains(.init(path: file, access: .read))) }
            let homes = ["/", "/home", "/home/alice", "/data", "/data/alice", "/people/alice"]
            #expect(!sandbox.rules.contains { homes.contains($0.path) })
        }

        @Test(arguments: [
            "/", "/home", "/home/", "/home/alice", "/home/alice/", "/data", "/data/alice", "/people", "/people/alice/",
        ])
        func neverReadsTheHomeFolder(folder: String) {
            let sandbox = Self.sandbox(environment: ["LD_LIBRARY_PATH": "/srv/lib:\(folder)::relative"])
            #expect(sandbox.rules.contains(.init(path: "/srv/lib", access: .read)))
            #expect(!sandbox.rules.contains { $0.path == folder || $0.path == "relative" })
        }

        @Test func usesTicketsForAProxyOnly() {
            let environment = ["KRB5CCNAME": "FILE:/run/tickets/alice"]
            let ticket = ProcessSandbox.Rule(path: "/run/tickets", access: [.read, .write])
            let with = Self.sandbox(usesProxy: true, environment: environment)
            #expect(with.rules.contains(ticket) && with.allowsKeyrings)
            let without = Self.sandbox(environment: environment)
            #expect(!without.rules.contains(ticket) && !without.allowsKeyrings)
            #expect(Self.sandbox(usesProxy: true).rules.contains { $0.path == "/tmp" && $0.access == [.read, .write] })
        }

        private static func sandbox(
            files: [String] = [], usesProxy: Bool = false, environment: [String: String] = [:]
        ) -> ProcessSandbox {
            ProcessSandbox(
                folders: ["/state"], files: files, home: "/home/alice", usesProxy: usesProxy, environment: environment
            ) { path in
                // Two symbolic links to one folder, as on systems with an immutable root.
                let link = ["/home", "/people"].first { path == $0 || path.hasPrefix($0 + "/") }
                return link.map { "/data" + path.dropFirst($0.count) } ?? path
            }
        }

        /// Restricts the calling thread and, as the test's process has other threads, is not complete for those.
        private static func enter(folders: [String] = []) -> SandboxState {
            let sandbox = ProcessSandbox(
                folders: folders, files: [], home: "/home/alice", usesProxy: false,
                environment: ProcessInfo.processInfo.environment, realPath: { $0 })
            return sandbox.enter(isAlone: true)
        }

        /// 0, or the error of a function of the C library that Swift does not know: a feature macro hides it, or it takes any number of
        /// arguments.
        private static func error(of function: String, _ arguments: Int...) -> Int32 {
            typealias Function = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int32
            guard let symbol = dlsym(nil, function) else { return ENOSYS }
            let all = arguments + [Int](repeating: 0, count: 6 - arguments.count)
            // Each argument has a register of its own, whatever its type is, and those that a function does not have are not read.
            let result = unsafeBitCast(symbol, to: Function.self)(all[0], all[1], all[2], all[3], all[4], all[5])
            return result == -1 ? errno : 0
        }

        /// 0, or the error of opening a file.
        private static func opens(_ path: String, _ flags: Int32) -> Int32 {
            let descriptor = open(path, flags, 0o600)
            guard descriptor >= 0 else { return errno }
            close(descriptor)
            return 0
        }
    }
#endif
