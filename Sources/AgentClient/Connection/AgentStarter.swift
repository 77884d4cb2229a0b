internal import AgentSocket
internal import CAgentSystem
internal import PosixFiles
internal import Synchronization
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Starts the agent of the user if none is running, in a session and an environment of its own.
///
/// A lock file beside the socket makes programs that find no agent at the same time start one only. The started process is no child
/// of the app, and runs until it is stopped. At the end of the user's session it is stopped only if the system ends all processes of
/// the session (`KillUserProcesses=` of systemd-logind).
struct AgentStarter {
    enum Outcome {
        /// An agent listens.
        case started
        /// The reason why none could be started.
        case failed(Problem)
        /// A process listens that is not a usable agent, or it cannot be found out whether one listens.
        case unusable(TokenError)
        /// This program does not start agents: the user is root, has turned it off or has a unit, the socket is not the standard one, none
        /// is installed, or the program is in a sandbox. The advice says what helps instead.
        case mayNot(StartAdvice)
    }

    private let path: String
    private let environment: AgentEnvironment
    private let whileWaiting: () -> Void

    /// - Parameter whileWaiting: called about every 20 ms while the thread that calls `start()` is blocked.
    init(path: String, environment: AgentEnvironment = .current, whileWaiting: @escaping () -> Void) {
        (self.path, self.environment, self.whileWaiting) = (path, environment, whileWaiting)
    }

    /// Starts the agent, and waits until it listens, fifteen seconds at most. Blocks the calling thread.
    ///
    /// After a failure, this process does not try again for five seconds, and returns the same.
    func start() -> Outcome {
        let isolation = SessionIsolation.reason(environment)
        // A command with `sudo` would start an agent of root's, which the user's programs do not use.
        guard geteuid() != 0, getuid() == geteuid(), environment.startsAgent, path == environment.socketPath,
            ServiceUnit.state(environment) == .notInstalled, isolation == nil
        else { return .mayNot(StartAdvice(forSocket: path, isolation: isolation, environment)) }
        if let reason = Self.failures.withLock({ $0.reason(at: path, now: .now) }) { return .failed(reason) }
        do throws(StartFailure) {
            guard let program = try program() else {
                return .mayNot(StartAdvice(forSocket: path, isolation: nil, environment))
            }
            return try startOrWait(for: program, until: MonotonicTime.now.advanced(by: Self.limit))
        } catch {
            let reason = error.problem.after("it could not be started: ")
            Self.failures.withLock { $0.add(reason, at: path, now: .now) }
            return .failed(reason)
        }
    }

    /// Starts the agent, or waits for the program that is starting it.
    private func startOrWait(for program: String, until deadline: MonotonicTime) throws(StartFailure) -> Outcome {
        let lock = try lock()
        while true {
            switch lock.acquire() {
            case .acquired: return try run(program, until: deadline)
            case .failed(let error): throw StartFailure("\(path).start cannot be locked: \(error)")
            case .held:
                guard MonotonicTime.now < deadline else { throw Self.late(program) }
                wait()
            }
        }
    }

    /// The program to start: one that other users can neither change nor replace. Nil if none is installed.
    private func program() throws(StartFailure) -> String? {
        let named = environment.agentExecutable
        guard let program = named ?? Self.places.first(where: { FileStatus($0) != nil }) else { return nil }
        guard program.hasPrefix("/") else {
            throw StartFailure("SSO_AGENT_EXECUTABLE, \(program), is not an absolute path")
        }
        do throws(TrustedFileError) {
            _ = try FileDescriptor.trusted(program)
        } catch {
            throw StartFailure(error.problem.after("\(program): "))
        }
        return program
    }

    /// A lock that is not acquired yet, in the folder of the socket, which is made if it does not exist. Fails before that if there is no home
    /// folder: the agent would not start.
    private func lock() throws(StartFailure) -> FileLock {
        do throws(TokenError) {
            try environment.requireHome()
            _ = try SocketFolder(ofSocket: path)
        } catch {
            throw StartFailure(error.problem)
        }
        do throws(SystemError) {
            return FileLock(try FileDescriptor(openingOrCreating: path + ".start"))
        } catch {
            throw StartFailure("\(path).start cannot be opened: \(error)")
        }
    }

    /// Runs the program while this process has the lock.
    private func run(_ program: String, until deadline: MonotonicTime) throws(StartFailure) -> Outcome {
        // Another program may have started one before this one had the lock.
        do throws(TokenError) {
            switch try UnixSocket.connectToAgent(at: path) {
            case .connected(let socket):
                close(socket)
                return .started
            case .busy: return .started
            case .nobody: break
            }
        } catch {
            return .unusable(error)
        }
        let ends: PipeEnds
        do throws(SystemError) { ends = try PipeEnds() } catch { throw StartFailure("\(error)") }
        defer { close(ends.read) }
        let child = try spawn(program, output: ends.write)
        let printed = read(ends.read, until: deadline)
        // The agent itself continues as another process; this one ends when the agent listens, or cannot.
        finish(child, steps: printed == nil ? 0 : 50)
        guard let printed else { throw Self.late(program) }
        guard printed.contains("listening on ") else {
            throw StartFailure(Self.problem(printed) ?? Problem("\(program) has ended"))
        }
        return .started
    }

    /// Starts the program with a descriptor as its output, which is closed here, and returns the process ID.
    private func spawn(_ program: String, output: Int32) throws(StartFailure) -> pid_t {
        let command: [String] = [program, "--on-demand", "--socket", path]
        var words = command.map { strdup($0) } + [nil]
        var variables = Self.variables().map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var child = pid_t()
        let code = agent_spawn_with_environment(&words, &variables, output, &child)
        close(output)
        guard code == 0 else { throw StartFailure("\(program): \(SystemError(number: code))") }
        return child
    }

    /// Reads the output of the agent until it listens or ends; nil if it does neither in time.
    private func read(_ descriptor: Int32, until deadline: MonotonicTime) -> String? {
        var printed: [UInt8] = []
        while printed.count < 16 << 10 {
            guard wait(forInput: descriptor) else {
                guard MonotonicTime.now < deadline else { return nil }
                continue
            }
            var part = [UInt8](repeating: 0, count: 4096)
            let count = systemRead(descriptor, &part, part.count)
            if count <= 0 { break }
            printed += part[..<count]
            if String(decoding: printed, as: UTF8.self).contains("listening on ") { break }
        }
        return String(decoding: printed, as: UTF8.self)
    }

    /// The problem that an agent has printed instead of starting; nil if it has printed nothing.
    private static func problem(_ printed: String) -> Problem? {
        let problem = Problem(printed: printed)
        guard let statement = UntrustedText.clean(problem.statement, limit: 500).trimmedNonEmpty else { return nil }
        return Problem(statement, problem.remedy.map { .run(UntrustedText.clean($0.command, limit: 500)) })
    }

    /// Waits for the end of a process, so many steps at most, and kills it then.
    private func finish(_ child: pid_t, steps: Int) {
        var code: Int32 = 0
        for _ in 0..<steps {
            guard agent_wait_for(child, Self.step, &code) == 0 else { return }
            whileWaiting()
        }
        _ = agent_wait_or_kill(child, 0)
    }

    /// Waits for a moment, at most until there is input.
    ///
    /// - Parameter descriptor: where input is awaited; -1 for nowhere, which `poll` passes over.
    /// - Returns: whether there is input, or its end.
    @discardableResult
    private func wait(forInput descriptor: Int32 = -1) -> Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, Self.step) <= 0 else { return true }
        whileWaiting()
        return false
    }

    private static func late(_ program: String) -> StartFailure {
        StartFailure("\(program) does not listen after \(limit.components.seconds) seconds")
    }

    /// Where the agent is installed. `PATH` is not searched: it may name folders for which this program is not meant.
    private static var places: [String] {
        var places = ["/usr/local/bin/sso-agent", "/usr/bin/sso-agent", "/opt/homebrew/bin/sso-agent"]
        // The command line is installed beside the agent.
        if let program = FileStatus.realPath("/proc/self/exe"), program.hasSuffix("/ssoctl") {
            places.insert("\(program.dropLast(6))sso-agent", at: 0)
        }
        return places
    }

    /// The environment of the agent: the variables that it reads, and those that the program which asks the user needs.
    /// It gets no other variable of this app, since it serves other apps too.
    private static func variables() -> [String] {
        ["PATH=/usr/local/bin:/usr/bin:/bin"]
            + names.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
    }

    private static let names = [
        "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
        "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "SSO_AGENT_STATE_DIR",
        "SSO_AGENT_CONFIG", "SSO_AGENT_SYSTEM_CONFIG", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy",
        "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "KRB5_CONFIG", "KRB5CCNAME",
    ]

    /// The time limit of a start; longer than the agent waits for another one to end.
    private static let limit = Duration.seconds(15)
    /// How long to wait at a time, in milliseconds.
    private static let step: Int32 = 20
    private static let failures = Mutex(FailedStarts())
}

/// The starts of this process that have failed. They are not repeated at once: each may block for fifteen seconds.
struct FailedStarts {
    private var last: [String: (reason: Problem, end: MonotonicTime)] = [:]

    /// The reason of the last failure at a path; nil if the agent may be started again.
    func reason(at path: String, now: MonotonicTime) -> Problem? {
        last[path].flatMap { now < $0.end ? $0.reason : nil }
    }

    mutating func add(_ reason: Problem, at path: String, now: MonotonicTime) {
        last[path] = (reason, now.advanced(by: .seconds(5)))
    }
}

/// The reason why an agent could not be started.
private struct StartFailure: Error {
    let problem: Problem

    init(_ problem: Problem) { self.problem = problem }

    init(_ statement: String) { self.init(Problem(statement)) }
}

/// `read(2)`; the method above hides the function.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
