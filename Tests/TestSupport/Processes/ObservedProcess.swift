internal import Foundation

/// A process that a test has started, as the system sees it: Linux only.
package struct ObservedProcess: Sendable {
    package let processID: Int32

    package init(processID: Int32) { self.processID = processID }

    /// Changes the limit of open files, above which the process gets EMFILE. Files that it has open stay.
    package func limitOpenFiles(to count: Int) async throws {
        let arguments = ["--pid", "\(processID)", "--nofile=\(count):"]
        let result = try await TestProcess("/usr/bin/prlimit", arguments).finish()
        guard result.status == 0 else { throw Refused(errors: result.errors) }
    }

    struct Refused: Error {
        let errors: String
    }

    /// Whether the process sleeps between what it does, such as one attempt after another, and does not use a processor all of the time.
    /// Neither depends on what else runs on the machine.
    package func sleepsBetweenAttempts() async throws -> Bool {
        let before = try activity()
        var now = before
        while now.sleeps < before.sleeps + 20, now.ticks - before.ticks < 50 {
            await letOthersRun()
            now = try activity()
        }
        return now.ticks - before.ticks < 50
    }

    /// How often the threads of the process have gone to sleep so far, and the time for which they have run, in hundredths of a second.
    private func activity() throws -> (sleeps: Int, ticks: Int) {
        let tasks = "/proc/\(processID)/task"
        var sleeps = 0
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            // A thread may have ended since.
            let status = (try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            sleeps += line.flatMap { $0.split(separator: "\t").last }.flatMap { Int($0) } ?? 0
        }
        let stat = try String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
        // The fields behind the name of the program, from the state on: the times are those 14 and 15 of all.
        let fields = (stat.split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
            throw Refused(errors: "/proc/\(processID)/stat cannot be read")
        }
        return (sleeps, user + system)
    }
}
