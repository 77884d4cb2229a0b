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

    /// Waits until the process has slept for a while. A process sleeps for a moment too when it has not been told of an event yet.
    package func waitUntilAsleep() async throws {
        try await offPool {
            var samples = 0
            while samples < 50 {
                samples = try isAsleep() ? samples + 1 : 0
                poll(nil, 0, 1)
            }
        }
    }

    /// Whether no thread of the process runs, or waits for a processor.
    private func isAsleep() throws -> Bool {
        let tasks = "/proc/\(processID)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
            // A thread may have ended since.
            let status = try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)
            return status?.contains(") S ") ?? true
        }
    }
}
