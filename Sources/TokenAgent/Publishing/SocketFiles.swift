internal import AgentSocket
internal import CAgentSystem
internal import Dispatch
internal import NIOCore
internal import PosixFiles
internal import Synchronization
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Makes and removes the files of published sockets, on a thread of its own: their folders may be on a file system that does not answer.
///
/// The restricted agent has its helper do it, which also removes the files when the agent ends without doing so.
final class SocketFiles: Sendable {
    private let helper: HelperProcess?
    private let queue = DispatchQueue(label: "sso-agent.sockets")
    /// The files that this process has made itself, by path.
    private let made = Mutex<[String: agent_socket_file]>([:])

    /// - Parameter helper: the process that makes the files; nil if this one may.
    init(helper: HelperProcess?) {
        self.helper = helper
    }

    /// Makes a socket, in place of one of the user's on which nobody listens, and returns a descriptor that listens.
    ///
    /// - Parameter users: the users who may connect as far as the file system decides.
    /// - Returns: a future; its failure is `invalidDeveloperParameter` (-51112) with the remedy.
    func make(_ path: String, for users: [UInt32], on loop: any EventLoop) -> EventLoopFuture<Result<Int32, TokenError>>
    {
        let promise = loop.makePromise(of: Result<Int32, TokenError>.self)
        queue.async { [self] in
            promise.succeed(Result { () throws(TokenError) in try make(path, for: users) })
        }
        return promise.futureResult
    }

    /// Removes a socket, unless another file has its path.
    func remove(_ path: String, on loop: any EventLoop) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        queue.async { [self] in
            remove(path)
            promise.succeed()
        }
        return promise.futureResult
    }

    private func make(_ path: String, for users: [UInt32]) throws(TokenError) -> Int32 {
        let namespace = UserNamespace.current
        for user in users where !namespace.contains(user) {
            throw TokenError(
                .invalidDeveloperParameter,
                "user \(user) does not exist in the agent's user namespace; start the agent outside of it, in a systemd unit with "
                    + "PrivateUsers=no")
        }
        if let defect = TrustedPath.defect(ofDirectoriesAbove: path) { throw Self.failure(path, defect) }
        var file = agent_socket_file()
        let result =
            if let helper {
                agent_ask_to_make_socket(helper.publication, path, users, Int32(users.count))
            } else {
                agent_make_socket(path, users, Int32(users.count), &file)
            }
        guard result >= 0 else { throw Self.failure(path, Self.problem(-result, path)) }
        if helper == nil { made.withLock { $0[path] = file } }
        return result
    }

    private func remove(_ path: String) {
        if let helper { return agent_ask_to_remove_socket(helper.publication, path) }
        guard var file = made.withLock({ $0.removeValue(forKey: path) }) else { return }
        agent_remove_socket(path, &file)
    }

    private static func problem(_ code: Int32, _ path: String) -> Problem {
        if code == EPERM || code == ENOENT, let defect = PublishedSocketFolder.defect(ofSocket: path) { return defect }
        return Problem(reason(code, path))
    }

    private static func reason(_ code: Int32, _ path: String) -> String {
        let folder = PrivateFiles.parent(of: path)
        return switch code {
        case EINVAL:
            "the path is not absolute, has empty parts, . or .., or is longer than \(AGENT_SOCKET_PATH) bytes, or its last part is "
                + "longer than \(AGENT_SOCKET_NAME)"
        case EPERM, ENOENT:
            "\(SystemError(number: code)): \(folder) must be a folder of yours that nobody else may write to"
        case ENOTDIR, ELOOP: "\(folder) is not a folder"
        case EEXIST: "there is another file; remove it, or choose another path"
        case EADDRINUSE: "a process listens there already"
        case EROFS, EACCES:
            "\(SystemError(number: code)); a systemd unit needs ReadWritePaths=\(folder), and PrivateTmp=no for a folder in /tmp"
        case ETOOMANYREFS:
            "a process of yours has left too many file descriptors unreceived in sockets; end it, and try again"
        case EIO: "the agent's helper process is not running; restart sso-agent"
        default: "\(SystemError(number: code))"
        }
    }

    private static func failure(_ path: String, _ problem: Problem) -> TokenError {
        TokenError(.invalidDeveloperParameter, problem.after("cannot publish \(path): "))
    }
}

/// The users that a process can distinguish. In a user namespace, all users that it does not map have the same ID.
struct UserNamespace: Sendable {
    private let ranges: [Range<UInt64>]

    /// - Parameter map: the content of `/proc/PID/uid_map`; each line has the first ID inside, the first outside, and the number.
    init(map: String) {
        ranges = map.split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 3, numbers[0] <= UInt64(UInt32.max), numbers[2] <= 1 << 32 else { return nil }
            return numbers[0]..<numbers[0] + numbers[2]
        }
    }

    func contains(_ user: UInt32) -> Bool { ranges.contains { $0.contains(UInt64(user)) } }

    /// The namespace of this process; on a system without namespaces, one that maps every user.
    static var current: UserNamespace {
        let everybody = "0 0 \(UInt32.max)"
        guard let file = try? PosixFiles.FileDescriptor(reading: "/proc/self/uid_map"),
            let bytes = try? file.readStream(limit: 64 * 1024)
        else { return UserNamespace(map: everybody) }
        return UserNamespace(map: String(decoding: bytes, as: UTF8.self))
    }
}
