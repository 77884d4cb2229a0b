internal import Foundation

/// The inputs in Tests/Fuzz/corpus, which ordinary tests replay: as they are, and with changes.
package enum FuzzCorpus {
    /// An input of a target, with the name of its file.
    package struct Input: Sendable, CustomStringConvertible {
        package let name: String
        package let bytes: [UInt8]
        package var description: String { name }
    }

    /// The inputs of a target, in the order of their names.
    package static func inputs(of target: String) throws -> [Input] {
        let folder = PackageFolder.root.appending(path: "Tests/Fuzz/corpus/\(target)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            Input(name: name, bytes: [UInt8](try Data(contentsOf: folder.appending(path: name))))
        }
    }

    /// An input with up to four changes: a byte is added, removed or replaced, a bit is flipped, or the end is that of another input.
    package static func changed(_ input: Input, among others: [Input], with random: inout TestSeed) -> [UInt8] {
        var bytes = input.bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let position = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.insert(.random(in: 0...255, using: &random), at: position)
            case 1: if position < bytes.count { bytes.remove(at: position) }
            case 2: if position < bytes.count { bytes[position] = .random(in: 0...255, using: &random) }
            case 3: if position < bytes.count { bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            default:
                let other = others.randomElement(using: &random)?.bytes ?? []
                bytes.replaceSubrange(position..., with: other.suffix(.random(in: 0...other.count, using: &random)))
            }
        }
        return bytes
    }

    /// Checks the inputs of a target, and as many changes of each as `changes`.
    ///
    /// - Parameter broken: describes a violation; nil if there is none.
    /// - Throws: the first violation, also if the target has no inputs.
    package static func check(_ target: String, changes: Int = 0, _ broken: (_ bytes: [UInt8]) -> String?) throws {
        let inputs = try inputs(of: target)
        guard !inputs.isEmpty else { throw Violation(description: "\(target) has no inputs") }
        for input in inputs {
            if let violation = broken(input.bytes) { throw Violation(description: "\(input): \(violation)") }
        }
        var random = TestSeed()
        for _ in 0..<changes {
            for input in inputs {
                let bytes = changed(input, among: inputs, with: &random)
                if let violation = broken(bytes) { throw Violation(description: "\(input), \(random): \(violation)") }
            }
        }
    }

    private struct Violation: Error, CustomStringConvertible {
        let description: String
    }
}
