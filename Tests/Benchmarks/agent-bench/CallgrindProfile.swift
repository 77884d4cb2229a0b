internal import Foundation

/// The totals of a process that callgrind has run, read from its output files, of which each thread has one.
///
/// The format: https://valgrind.org/docs/manual/cl-format.html
struct CallgrindProfile {
    private(set) var instructions = 0
    /// The calls of the C library's functions that allocate memory.
    private(set) var allocations = 0

    /// - Parameters:
    ///   - prefix: that of the names of the files.
    ///   - function: a part of the name of a function; only threads that call it are counted. Nil counts all of them.
    init(folder: String, prefix: String, _ function: String?) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(prefix) }
        var threads = 0
        for file in files {
            let thread = try Thread(String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8))
            guard thread.instructions > 0, function.map(thread.calls) ?? true else { continue }
            instructions += thread.instructions
            allocations += thread.allocations
            threads += 1
        }
        guard threads > 0 else { throw BenchError("callgrind has counted nothing for \(prefix)") }
    }

    /// What one file says.
    private struct Thread {
        private(set) var instructions = 0
        private(set) var allocations = 0
        private var names: [Substring: Substring] = [:]

        init(_ text: String) {
            var called: Substring = ""
            for line in text.split(separator: "\n") {
                if line.hasPrefix("totals: ") || line.hasPrefix("summary: ") {
                    instructions = max(instructions, Int(line.split(separator: " ").last ?? "") ?? 0)
                } else if line.hasPrefix("cfn=") {
                    called = name(line.dropFirst("cfn=".count))
                } else if line.hasPrefix("fn=") {
                    _ = name(line.dropFirst("fn=".count))
                } else if line.hasPrefix("calls="), Self.allocators.contains(called) {
                    allocations += Int(line.dropFirst("calls=".count).prefix { $0 != " " }) ?? 0
                }
            }
        }

        func calls(_ function: String) -> Bool { names.values.contains { $0.contains(function) } }

        /// A name is written once, after a number in parentheses, by which later lines refer to it.
        private mutating func name(_ text: Substring) -> Substring {
            guard let end = text.firstIndex(of: ")") else { return text }
            let (number, name) = (text[...end], text[text.index(after: end)...].drop { $0 == " " })
            if name.isEmpty { return names[number] ?? "" }
            // A function that calls itself has its depth after an apostrophe.
            let plain = name.prefix { $0 != "'" }
            names[number] = plain
            return plain
        }

        private static let allocators: Set<Substring> = [
            "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc",
        ]
    }
}
