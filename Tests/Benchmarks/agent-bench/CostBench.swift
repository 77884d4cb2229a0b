internal import Foundation

/// Counts the instructions and allocations of a cache hit, with Valgrind's callgrind.
///
/// Unlike times, they are nearly the same in each run and on each machine with the same compiler, so that a regression can fail a
/// check. Each program runs twice with different numbers of hits; the difference is what hits alone cost.
struct CostBench {
    /// The programs that are counted.
    enum Subject: String, CaseIterable {
        /// The agent's event loop, from `read` to `write`. The audit log's lines are written by another thread, which is not counted:
        /// how many equal events share a line depends on the time.
        case agent
        /// The same for requests that no reply has been kept for: each is decoded and decided.
        case newRequests = "agent, new"
        /// The same for an account with 1,000 access tokens.
        case manyTokens = "agent, new of 1000"
        /// An event loop of SwiftNIO whose handler answers with constant bytes: the least that a hit can cost the agent.
        case floor = "NIO floor"
        /// The whole process of an app that calls `AgentClient.acquireTokenSilent`.
        case client = "AgentClient"
        /// The same for `MSALPublicClientApplication.acquireTokenSilent`.
        case msal = "MSALCompat"
        /// The same for `ADAuthenticationContext.acquireTokenSilent`.
        case adal = "ADALCompat"
        /// The same, if the results of the first requests are kept in the app.
        case keptClient = "AgentClient, kept"
        case keptMSAL = "MSALCompat, kept"
        case keptADAL = "ADALCompat, kept"

        /// Whether the agent is counted, or the floor in its place, and not an app.
        var isAgent: Bool { [.agent, .newRequests, .manyTokens, .floor].contains(self) }

        /// A part of a mangled name, that of `channelRead`, that only the counted thread has; nil if all threads are counted.
        var threadFunction: String? { isAgent ? "C11channelRead" : nil }

        /// The instructions of planning the end of a turn, which a hit saves where Valgrind is fast enough for several in half a turn
        /// (docs/decisions/0048-a-hit-without-buffers.md). The record has a machine on which none is.
        var endOfTurn: Double { self == .agent ? 1_300 : 0 }

        /// The hits that the second run has more. What the two runs do besides differs by some 100,000 instructions, which count for
        /// more in a kept hit.
        fileprivate var measuredHits: Int { [.keptClient, .keptMSAL, .keptADAL].contains(self) ? 10_000 : 1_000 }

        /// The name of the folder of the agent's store.
        fileprivate var state: String { self == .manyTokens ? "many" : "state" }
    }

    /// The cost of one hit.
    struct Row {
        var subject: Subject
        var instructions: Double
        var allocations: Double
    }

    static let isPossible = valgrind != nil

    /// - Parameters:
    ///   - program: the agent to measure; nil is the one beside this program.
    ///   - only: a part of the names of the programs to count; nil for all of them.
    ///   - profiles: the folder for callgrind's files, which is made; nil if they are not kept.
    static func run(
        agent program: String? = nil, only: String? = nil, keptIn profiles: String? = nil
    ) async throws -> [Row] {
        guard let valgrind else { throw BenchError("valgrind is not installed; install the package valgrind") }
        let folder = try profiles ?? Bench.makeTemporaryFolder()
        if profiles != nil {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        }
        defer { if profiles == nil { try? FileManager.default.removeItem(atPath: folder) } }
        try await SignedInAccount.seed(stateDirectory: folder + "/state", usesADAL: true)
        try await SignedInAccount.seed(stateDirectory: folder + "/many", furtherTokens: 999)
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(folder)/config.toml"))
        let bench = try CostBench(
            folder: folder, agent: try readable(ServerProcess.path(of: program ?? "sso-agent"), in: folder),
            app: try readable(ServerProcess.path(of: "agent-bench"), in: folder), valgrind: valgrind)
        return try Subject.allCases.filter { only.map($0.rawValue.contains) ?? true }.map { subject in
            let measured = subject.measuredHits
            let few = try bench.profile(subject, hits: warmUp)
            let many = try bench.profile(subject, hits: warmUp + measured)
            return Row(
                subject: subject, instructions: Double(many.instructions - few.instructions) / Double(measured),
                allocations: Double(many.allocations - few.allocations) / Double(measured))
        }
    }

    private let folder: String
    private let agent: String
    private let app: String
    private let valgrind: String
    /// The frames of a hit, for the floor.
    private let frames: Frames

    private init(folder: String, agent: String, app: String, valgrind: String) throws {
        (self.folder, self.agent, self.app, self.valgrind) = (folder, agent, app, valgrind)
        let socket = Self.socket(in: folder)
        let server = try ServerProcess(
            agent, Self.arguments(in: folder, state: Subject.agent.state), socketPath: socket)
        defer { server.stop() }
        frames = try Frames(askedAt: socket)
    }

    private func profile(_ subject: Subject, hits: Int) throws -> CallgrindProfile {
        let output = "\(folder)/\(subject)-\(hits)"
        let socket = Self.socket(in: folder)
        let arguments = Self.arguments(in: folder, state: subject.state)
        let floor = [app, "--reply-length", "\(frames.replyLength)", "--socket", socket]
        let counted = [
            "--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=\(output).%p", "--log-file=/dev/null",
        ]
        let server =
            subject.isAgent
            ? try ServerProcess(
                valgrind, counted + (subject == .floor ? floor : [agent] + arguments), socketPath: socket)
            : try ServerProcess(agent, arguments, socketPath: socket)
        defer { if !subject.isAgent { server.stop() } }
        var process = server.processID
        if subject.isAgent {
            let frames = try subject == .floor ? frames : Frames(askedAt: socket, waitsForLoad: true)
            if subject == .agent || subject == .floor {
                _ = try FramedLevel(name: "framed", socketPath: socket, request: frames.request).sample(hits)
            } else {
                _ = try frames.sampleNew(hits, at: socket)
            }
            server.stop()
        } else {
            let app = try ServerProcess(
                valgrind, counted + [app, "--hits", subject.rawValue, "--requests", "\(hits)", "--socket", socket],
                socketPath: socket)
            process = app.processID
            app.wait()
        }
        return try CallgrindProfile(folder: folder, prefix: "\(subject)-\(hits).\(process)", subject.threadFunction)
    }

    private static func socket(in folder: String) -> String { "\(folder)/run/agent.sock" }

    private static func arguments(in folder: String, state: String) -> [String] {
        [
            "--socket", socket(in: folder), "--state-dir", "\(folder)/\(state)", "--config", "\(folder)/config.toml",
            "--no-sandbox", "--allow-debugging",
        ]
    }

    /// Sends the hits of a process that is measured.
    static func hit(_ subject: Subject, count: Int, socketPath: String) async throws {
        FileHandle.standardError.write(Data("listening on nothing: an app\n".utf8))
        switch subject {
        case .agent, .newRequests, .manyTokens, .floor: throw BenchError("the agent is no app")
        case .client: _ = try await ClientLevel(socketPath: socketPath).sample(count)
        case .msal: _ = try await MSALLevel(socketPath: socketPath).sample(count)
        case .adal: _ = try await ADALLevel(socketPath: socketPath, keepsResults: false).sample(count)
        case .keptClient: _ = try await ClientLevel(socketPath: socketPath, keepsResults: true).sample(count)
        case .keptMSAL: _ = try await MSALLevel(socketPath: socketPath, keepsResults: true).sample(count)
        case .keptADAL: _ = try await ADALLevel(socketPath: socketPath, keepsResults: true).sample(count)
        }
    }

    /// Copies a program without the descriptions for debuggers, which Valgrind cannot read.
    private static func readable(_ program: String, in folder: String) throws -> String {
        let copy = "\(folder)/\(URL(fileURLWithPath: program).lastPathComponent)"
        let strip = Process()
        strip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        strip.arguments = ["strip", "--strip-debug", "-o", copy, program]
        try strip.run()
        strip.waitUntilExit()
        guard strip.terminationStatus == 0 else { throw BenchError("strip cannot read \(program)") }
        return copy
    }

    /// Valgrind does not know the system calls by which the agent recognises processes, which are unknown apps in a sandbox then.
    private static let configuration = """
        [[rule]]
        requests = ["all"]
        effect = "allow"

        """
    /// The hits that both runs have.
    private static let warmUp = 200
    private static let valgrind: String? = {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/valgrind" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()
}

extension [CostBench.Row] {
    var table: String {
        let lines = map {
            $0.subject.rawValue.padding(toLength: 20, withPad: " ", startingAt: 0)
                + String(format: "%14.0f%14.1f", $0.instructions, $0.allocations)
        }
        return """
            A silent hit            instructions   allocations
            \(lines.joined(separator: "\n"))
            """
    }

    var json: [[String: Any]] {
        map {
            ["subject": $0.subject.rawValue, "instructions": $0.instructions, "allocations": $0.allocations]
        }
    }
}
