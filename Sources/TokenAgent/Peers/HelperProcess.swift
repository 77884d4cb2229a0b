internal import CAgentSystem
package import TokenModel
package import TokenStore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The helper process, which does what the restricted agent may not do: it describes peers, asks the user to confirm
/// requests, makes published sockets, and uses the keyring. It does nothing else, whatever the agent sends.
///
/// It ends with the agent. Linux only: on other systems the agent does this itself.
package struct HelperProcess: Sendable {
    /// The helper's part that uses the keyring.
    package let keyring: KeyringHelper
    /// The socket for confirmations. One request at a time.
    let confirmation: Int32
    /// The socket for published sockets. One request at a time.
    let publication: Int32
    /// The sockets for descriptions of peers. One request at a time on each.
    let inspection: [Int32]

    /// Starts the helper. This process may have only one thread then, and should have no secret in memory yet.
    ///
    /// - Parameters:
    ///   - secretTool: the program that accesses the keyring.
    ///   - store: the folder of the store whose key the helper may read and write.
    ///   - askpass: the program that asks for confirmations; nil for the terminal of the process that has sent the request.
    ///   - executables: the paths of programs in the access policy.
    ///   - runtimeDirectory: the user's runtime folder, by which its programs find the session's D-Bus, if the environment of this process
    ///     does not name one.
    /// - Returns: nil if it cannot be started.
    package init?(
        secretTool: String, store: String, askpass: String?, executables: Set<ExactText>,
        runtimeDirectory: String? = nil
    ) {
        if let runtimeDirectory { setenv("XDG_RUNTIME_DIR", runtimeDirectory, 1) }
        var lanes = [Int32](repeating: -1, count: Int(AGENT_LANES))
        let isStarted = CStrings.withPointers([secretTool, KeyringHelper.name(ofStore: store)] + [askpass ?? ""]) {
            words in
            CStrings.withPointers(executables.map(\.text)) { paths in
                var settings = agent_helper_settings(
                    secret_tool: words[0], store: words[1], askpass: askpass == nil ? nil : words[2],
                    executables: paths)
                return agent_start_helper(&settings, &lanes) == 0
            }
        }
        if runtimeDirectory != nil { unsetenv("XDG_RUNTIME_DIR") }
        guard isStarted else { return nil }
        keyring = KeyringHelper(descriptor: lanes[Int(AGENT_LANE_KEYRING)])
        confirmation = lanes[Int(AGENT_LANE_CONFIRMATION)]
        publication = lanes[Int(AGENT_LANE_SOCKETS)]
        inspection = Array(lanes[Int(AGENT_LANE_INSPECTION)...])
    }

    /// Whether the helper is running: its sockets have not been closed.
    var isRunning: Bool {
        ([confirmation, publication] + inspection).allSatisfy { lane in
            var event = pollfd(fd: lane, events: 0, revents: 0)
            return poll(&event, 1, 0) == 0
        }
    }
}

/// Texts as C strings.
enum CStrings {
    /// Calls `body` with pointers to the texts, and a null pointer after the last one.
    static func withPointers<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { pointers in
            // The array has at least the null pointer.
            guard let first = pointers.baseAddress else { preconditionFailure("an array without elements") }
            return body(first)
        }
    }
}
