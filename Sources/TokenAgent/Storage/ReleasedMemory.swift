internal import CAgentSystem
internal import Dispatch
internal import TokenModel

/// The memory that the agent has released, and that the C library keeps for later allocations.
enum ReleasedMemory {
    private static let thread = DispatchQueue(label: "sso-agent.memory")

    /// Returns whole pages of it to the system, on another thread, and those of the code that the work has used. Called after work
    /// that needs much more memory than what is left of it: loading the store, an import, an export.
    static func returnToSystem() {
        thread.async {
            Secret.releaseUnusedMemory()
            agent_release_memory()
            agent_release_code()
        }
    }
}
