internal import CAgentSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A process that runs `secret-tool` for the agent. The agent restricts itself after its start, and can then start no program.
///
/// The helper runs that program with the attributes of one store, and nothing else.
package struct KeyringHelper: Sendable {
    private let descriptor: Int32

    enum Operation: Int32 {
        case lookup = 1
        case store = 2
        case clear = 3
    }

    /// Starts the helper. This process may have only one thread then, and should have no secret in memory yet.
    ///
    /// - Parameter path: the folders in which the program is searched, as in `$PATH`.
    /// - Returns: nil if there is no such program, or the system has no restrictions that would need the helper.
    package init?(program: String, store directory: String, path: String) {
        let folders = path.split(separator: ":")
        guard folders.contains(where: { access("\($0)/\(program)", X_OK) == 0 }) else { return nil }
        let descriptor = agent_start_keyring_helper(program, StorePaths(directory).directory)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    /// Runs the program; nil if the helper does not answer.
    func run(_ operation: Operation, input: [UInt8]) -> PipedProcess.Outcome? {
        var output = [UInt8](repeating: 0, count: Int(AGENT_KEYRING_LIMIT))
        var status: Int32 = -1
        let count = agent_call_keyring_helper(descriptor, operation.rawValue, input, input.count, &output, &status)
        guard count >= 0 else {
            output.wipe()
            return nil
        }
        output.removeLast(output.count - Int(count))
        return PipedProcess.Outcome(status: status, output: output)
    }
}
