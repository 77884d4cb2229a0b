internal import CBenchSystem
internal import Foundation

/// A server process of the benchmark.
struct ServerProcess {
    let socketPath: String
    /// The time from spawning until it listens, in nanoseconds.
    let startTime: Double
    let processID: pid_t
    private let standardError: Int32

    /// Starts a program, and returns when it listens.
    ///
    /// - Parameter program: its path, or its name in the folder of this program.
    init(_ program: String, _ arguments: [String], socketPath: String) throws {
        self.socketPath = socketPath
        let path = Self.path(of: program)
        let words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        var pipe: Int32 = -1
        let start = bench_now()
        processID = bench_spawn(words.map { UnsafePointer($0) } + [nil], &pipe)
        standardError = pipe
        guard processID > 0 else { throw BenchError("cannot start \(program) (errno \(-processID))") }
        let line = Self.line(from: pipe)
        startTime = Double(bench_now() - start)
        guard line.hasPrefix("listening on ") else {
            stop()
            throw BenchError("\(program) does not listen: \(line)")
        }
    }

    /// The path of a program: its own, or in the folder of this program.
    static func path(of program: String) -> String {
        if program.hasPrefix("/") { return program }
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return folder.appending(path: program).path
    }

    /// The next line of the process; empty if it has ended.
    func nextLine() -> String { Self.line(from: standardError) }

    func stop() {
        Foundation.kill(processID, SIGTERM)
        wait()
    }

    /// Waits for the end of the process.
    func wait() {
        var status: Int32 = 0
        waitpid(processID, &status, 0)
        close(standardError)
    }

    /// Ends a program that does not end by itself.
    func kill() {
        Foundation.kill(processID, SIGKILL)
        wait()
    }

    /// The process and those that it has started.
    var processes: [pid_t] {
        let all = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
        let parents = [pid_t: pid_t](uniqueKeysWithValues: all.map { ($0, Self.parent(of: $0)) })
        var tree = [processID]
        var next = 0
        while next < tree.count {
            tree += all.filter { parents[$0] == tree[next] }
            next += 1
        }
        return tree
    }

    /// The parent is the second word after the name, which is in parentheses; 0 if the process has ended.
    private static func parent(of process: pid_t) -> pid_t {
        let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        let words = stat.split(separator: ")").last?.split(separator: " ") ?? []
        return words.count > 1 ? pid_t(words[1]) ?? 0 : 0
    }

    /// The resident memory of a process.
    static func residentKilobytes(of process: pid_t) -> Double { kilobytes("VmRSS:", of: process) }

    /// The resident memory of the process.
    var residentKilobytes: Double { Self.residentKilobytes(of: processID) }

    /// The resident memory of the process when it was largest.
    var peakKilobytes: Double { Self.kilobytes("VmHWM:", of: processID) }

    private static func kilobytes(_ field: String, of process: pid_t) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0
    }

    private static func line(from descriptor: Int32) -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }
}

/// The processors on which client and server run. Waking a process on another processor takes several times as long, and the
/// scheduler places floor and agent differently, which would dominate the result.
enum Placement: String, CaseIterable {
    /// Both run on one processor.
    case together
    /// Each runs on a processor of its own.
    case apart
    /// The scheduler decides.
    case free

    /// The placements that are possible on this machine.
    static var possible: [Placement] { bench_processors() > 1 ? allCases : [.together] }

    /// Applies the placement to this process and `servers`.
    func arrange(_ servers: [ServerProcess]) throws {
        try Self.pin(getpid(), self == .free ? -1 : 0)
        for process in servers.flatMap(\.processes) {
            try Self.pin(process, self == .free ? -1 : self == .apart ? 1 : 0)
        }
    }

    /// Moves a server to another processor than that of this process and the others, if there is one.
    static func setAside(_ server: ServerProcess) throws {
        guard possible.contains(.apart) else { return }
        for process in server.processes { try pin(process, 1) }
    }

    private static func pin(_ processID: pid_t, _ processor: Int32) throws {
        let code = bench_pin(processID, processor)
        guard code == 0 else { throw BenchError("cannot choose a processor (errno \(code))") }
    }
}
