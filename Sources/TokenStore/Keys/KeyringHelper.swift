internal import CAgentSystem
internal import TokenModel

/// The part of the agent's helper that runs `secret-tool` with the attributes of one store. The agent restricts itself after its start,
/// and can then start no program.
package struct KeyringHelper: Sendable {
    private let descriptor: Int32

    enum Operation: Int32 {
        case lookup = 1
        case store = 2
        case clear = 3
        case search = 4
    }

    /// - Parameter descriptor: the helper's socket for the keyring.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// The attribute that distinguishes the key of a store in a directory.
    package static func name(ofStore directory: String) -> String { StorePaths(directory).directory }

    /// The status of a program that could not be started.
    static var notStarted: Int32 { -2 }

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
