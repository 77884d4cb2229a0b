internal import AgentSocket
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentClient

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Apps that change what their process inherits or may do: copies of it, the signals of child processes, the number of threads.
@Suite(.bounded) struct ProcessStateTests {
    /// A child that used its parent's connection would wait for ever, or take the parent's replies; and Swift's locks fail in it.
    @Test(.enabled(if: !Sanitizer.isOfThreads)) func refusesCallsInACopyOfTheProcess() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            await #expect(processExitsWith: .success) { [path = f.socketPath as String] in
                let client = AgentClient(socketPath: path, appName: "parent")
                let list = ListAccounts(clientID: nil)
                #expect(try client.listAccountsAndWait(list).count == 1, "before")
                let child = try CopiedProcess.make()
                if child == 0 {
                    let other = AgentClient(socketPath: path, appName: "child")
                    for client in [client, other] {
                        do {
                            _ = try client.listAccountsAndWait(list)
                            _exit(1)
                        } catch {
                            guard let error = error as? TokenError, error.code == .agentUnavailable else { _exit(2) }
                        }
                    }
                    _exit(0)
                }
                let status = CopiedProcess.wait(for: child)
                #expect(status == 0, "the copy ended with \(status)")
                #expect(try client.listAccountsAndWait(list).count == 1, "after")
            }
        }
    }

    /// Another thread may hold the lock of the kept results when the process is copied. Nothing releases it in the copy.
    @Test(.enabled(if: !Sanitizer.isOfThreads)) func readsNoKeptResultInACopyOfTheProcess() async {
        await #expect(processExitsWith: .success) {
            let results = KeptResults()
            let parameters = TokenParameters(
                clientID: try #require(ClientID("app-1")), scopes: ScopeSet(["User.Read"]))
            let request = AcquireTokenSilent(
                parameters: parameters, account: AccountReference(username: "alice@contoso.com"))
            // Begins to watch for copies. In a copy, nothing may have to be prepared of which another thread had begun the preparation.
            #expect(results.result(for: request) == nil && results.generations(for: request) == nil)
            results.drop()
            for _ in 0..<3 { Thread.detachNewThread { while true { results.drop() } } }
            for round in 0..<30 {
                let child = try CopiedProcess.make()
                if child == 0 {
                    // Ends a copy that waits for the lock, and none that has to wait for a processor.
                    var signals = sigset_t()
                    sigemptyset(&signals)
                    pthread_sigmask(SIG_SETMASK, &signals, nil)
                    alarm(300)
                    let isEmpty = results.result(for: request) == nil && results.generations(for: request) == nil
                    _exit(isEmpty ? 0 : 1)
                }
                let status = CopiedProcess.wait(for: child)
                try #require(status == 0, "copy \(round) ended with \(status)")
            }
        }
    }

    /// A copy of the process has the connection too, and may live for days.
    @Test(.enabled(if: !Sanitizer.isOfThreads)) func endsAConnectionThatACopyOfTheProcessHasToo() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let (client, peer) = try connectedClient(in: folder)
            let child = try CopiedProcess.make()
            if child == 0 {
                poll(nil, 0, 300_000)
                _exit(0)
            }
            client.close()
            var event = pollfd(fd: peer, events: Int16(POLLIN), revents: 0)
            var (bytes, count) = ([UInt8](repeating: 0, count: 4096), 1)
            while count > 0, poll(&event, 1, 60_000) == 1 {
                count = recv(peer, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            }
            #expect(count == 0)
            kill(child, SIGKILL)
            _ = CopiedProcess.wait(for: child)
        }
    }

    /// An app that ignores the ends of its child processes, or collects all of them, leaves none to the client.
    @Test func takesABrowserWhoseEndIsUnknownForOneThatWorks() async {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            let status = await withCheckedContinuation { done in
                if !ChildProcess.start(["true"], onExit: { done.resume(returning: $0) }) { done.resume(returning: 1) }
            }
            #expect(status == ChildProcess.unknownStatus)
            #expect(Browser.failure(of: "xdg-open", status: status) == nil)
        }
        #expect(Browser.failure(of: "xdg-open", status: 0) == nil)
        #expect(Browser.failure(of: "xdg-open", status: 3) == "the browser “xdg-open” ended with status 3")
    }

    /// The standard error of an app may be a pipe whose reader has ended, as that of a desktop's session may be.
    @Test func endsNoAppWhoseStandardErrorIsBroken() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            close(ends[0])
            let former = dup(STDERR_FILENO)
            try #require(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO)
            SignInPresenter().showNotice("the redirect URI cannot be used on this system")
            var pending = sigset_t()
            sigpending(&pending)
            dup2(former, STDERR_FILENO)
            #expect(sigismember(&pending, SIGPIPE) == 0)
        }
    }

    #if os(Linux)
        /// Some programs forbid themselves to open files, so that nothing that takes them over can. Waiting for files has the same limit.
        @Test func endsACallIfTheThreadMayNotWaitForItsReply() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder()
                let (client, peer) = try connectedClient(in: folder)
                let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(getrlimit(files, &limit) == 0)
                var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
                try #require(setrlimit(files, &none) == 0)
                let outcome = Result { try client.wait(GetStatus(), timeout: .seconds(60)) }
                try #require(setrlimit(files, &limit) == 0)
                let error = #expect(throws: TokenError.self) { try outcome.get() }
                #expect(error?.code == .agentUnavailable)
                #expect(error?.message.hasPrefix("no pipe: ") == true)
                close(peer)
            }
        }

        /// Threads of Swift's pool block all signals. A browser that inherited that could not be told to quit.
        @Test func blocksNoSignalOfAProgramThatItStarts() async {
            await #expect(processExitsWith: .success) {
                let status = await withCheckedContinuation { (done: CheckedContinuation<Int32, Never>) in
                    var signals = sigset_t()
                    sigfillset(&signals)
                    pthread_sigmask(SIG_SETMASK, &signals, nil)
                    let search = ["grep", "-q", "SigBlk:.0*$", "/proc/self/status"]
                    let isStarted = ChildProcess.start(search) { done.resume(returning: $0) }
                    if !isStarted { done.resume(returning: -1) }
                }
                #expect(status == 0)
            }
        }

        @Test func ignoresNoSignalForAProgramThatItStarts() async {
            await #expect(processExitsWith: .success) {
                signal(SIGTERM, SIG_IGN)
                let status = await withCheckedContinuation { (done: CheckedContinuation<Int32, Never>) in
                    // The C library has a started program ignore two signals of its own, 32 and 33.
                    let search = ["grep", "-q", "SigIgn:.*[08]0\\{7\\}$", "/proc/self/status"]
                    let isStarted = ChildProcess.start(search) { done.resume(returning: $0) }
                    if !isStarted { done.resume(returning: -1) }
                }
                #expect(status == 0)
            }
        }

        @Test func endsACallIfNoThreadCanBeCreated() async {
            await #expect(processExitsWith: .success) {
                // The limit does not hold for root.
                if geteuid() == 0 { try #require(setuid(64_001) == 0) }
                var limit = rlimit(rlim_cur: 0, rlim_max: 0)
                try #require(setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit) == 0)
                let error = #expect(throws: TokenError.self) {
                    try AgentClient(socketPath: "/nowhere/agent.sock").listAccountsAndWait(ListAccounts(clientID: nil))
                }
                #expect(error?.code == .agentUnavailable)
                #expect(error?.message.hasPrefix("no thread can be created; raise the limit") == true)
            }
        }
    #endif
}

/// A client and the other end of its connection, where nothing is answered.
private func connectedClient(in folder: TemporaryFolder) throws -> (client: AgentClient, peer: Int32) {
    let path = folder.file("agent.sock")
    let listener = try UnixSocket.make()
    defer { close(listener) }
    let isBound = try UnixSocket.withAddress(of: path) { bind(listener, $0, $1) == 0 }
    try #require(isBound && listen(listener, 1) == 0)
    let client = AgentClient(socketPath: path, timeout: .zero)
    // Ends at its deadline, when there is a connection.
    _ = try? client.listAccountsAndWait(ListAccounts(clientID: nil))
    let peer = accept(listener, nil, nil)
    try #require(peer >= 0)
    return (client, peer)
}
