internal import CAgentSystem
package import TokenModel

/// The room that the system has for more threads of this process: limits of the user, and of the control group.
///
/// Without it, SwiftNIO ends the process when it starts a thread, and libdispatch waits in the thread that gives it work.
package enum ThreadRoom {
    /// Checks that threads can be created, by creating them: no system call tells it. They have ended when this returns.
    ///
    /// - Parameter count: 32 at most.
    /// - Throws: EAGAIN if there is no room for so many at the same time.
    package static func require(_ count: Int32) throws(SystemError) {
        let code = agent_try_threads(count)
        guard code == 0 else { throw SystemError(number: code) }
    }

    /// The error of a request for which this process can create no thread.
    package static let exhausted = TokenError(.agentUnavailable, "no thread can be created; \(remedy)")

    /// What makes room, for messages.
    package static let remedy =
        "raise the limit of the user (ulimit -u), or of the unit or the container (TasksMax, pids.max)"
}
