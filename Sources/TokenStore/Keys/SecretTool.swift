internal import CAgentSystem
internal import Crypto
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The desktop's keyring (Secret Service), accessed with libsecret's `secret-tool`. Used only if the user has chosen it.
struct SecretTool {
    let program: String
    /// The directory of the store, which distinguishes its key from those of other stores.
    let store: String
    /// Runs the program instead of this process; nil if this process can.
    let helper: KeyringHelper?
    let activity: KeyringActivity

    private var attributes: [String] { ["application", "sso-agent", "store", store] }

    /// Reads the key or, after an interrupted change, the new and the old one. Empty if there is none or the keyring does not
    /// answer, which the program does not distinguish.
    func read() throws(TokenError) -> [SymmetricKey] {
        var ended = try run(.lookup, input: [])
        defer { ended.output.wipe() }
        return ended.status == 0 ? KeyText.keys(in: ended.output) : []
    }

    func write(_ keys: [SymmetricKey]) throws(TokenError) {
        var text: [UInt8] = []
        text.reserveCapacity(128 * keys.count)
        defer { text.wipe() }
        for key in keys {
            var line = KeyText.bytes(of: key)
            defer { line.wipe() }
            if !text.isEmpty { text += "\n".utf8 }
            text += line
        }
        try save(text)
    }

    private func save(_ text: [UInt8]) throws(TokenError) {
        guard try run(.store, input: text).status == 0 else { throw .keyringRefusal }
    }

    /// Deletes what the keyrings have.
    ///
    /// In a locked keyring the program deletes nothing, and ends with the same status as if there were nothing to delete. A text that can be
    /// saved and deleted shows that the default keyring is open; another one may still be locked, and have a key.
    func clear() throws(TokenError) {
        if try run(.clear, input: []).status != 0 {
            try save(Array("no key\n".utf8))
            guard try run(.clear, input: []).status == 0 else { throw .keyringUnavailable }
        }
        guard try itemCount() == 0 else { throw .keyringUnavailable }
    }

    /// The number of keys of the store in all keyrings, also in locked ones, of services that show what a locked keyring has.
    func itemCount() throws(TokenError) -> Int {
        var ended = try run(.search, input: [])
        defer { ended.output.wipe() }
        guard ended.status == 0 else { throw .keyringRefusal }
        // Each begins with a line that has its name in brackets.
        return ended.output.split(separator: UInt8(ascii: "\n")).filter { $0.first == UInt8(ascii: "[") }.count
    }

    private func run(_ operation: KeyringHelper.Operation, input: [UInt8]) throws(TokenError) -> PipedProcess.Outcome {
        activity.begin()
        defer { activity.end() }
        if let helper {
            guard let ended = helper.run(operation, input: input) else {
                throw operation == .lookup ? .keyringUnavailable : .keyringRefusal
            }
            if ended.status == KeyringHelper.notStarted { throw missing(operation) }
            return ended
        }
        let words =
            switch operation {
            case .lookup: ["lookup"]
            case .store: ["store", "--label=sso-agent"]
            case .clear: ["clear"]
            case .search: ["search", "--all"]
            }
        guard let ended = PipedProcess.run([program] + words + attributes, input: input, seconds: 60) else {
            throw missing(operation)
        }
        return ended
    }

    private func missing(_ operation: KeyringHelper.Operation) -> TokenError {
        let install = "sudo apt install libsecret-tools"
        let hasPackages = FileStatus("/usr/bin/apt") != nil
        guard operation == .lookup else {
            return TokenError(
                .storeUnavailable,
                "\(program), which the Secret Service is used with, is missing"
                    + (hasPackages ? "" : "; install libsecret-tools"), hasPackages ? .run(install) : nil)
        }
        return TokenError(
            .storeUnavailable,
            "the store's key is in the Secret Service, and \(program) is missing"
                + (hasPackages ? "" : "; install libsecret-tools"),
            hasPackages ? .run("\(install) && ssoctl unlock") : .then("ssoctl unlock"))
    }
}

/// Runs a program with a short input and a short output, and waits for its end.
enum PipedProcess {
    struct Outcome {
        var status: Int32
        var output: [UInt8]
    }

    /// Runs a program found on `PATH`; nil if it cannot be started. It is killed if it takes longer than `seconds` or
    /// writes more than 64 KiB.
    static func run(_ words: [String], input: [UInt8], seconds: Int32) -> Outcome? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &ends) == 0 else { return nil }
        defer { close(ends[0]) }
        let started = ChildProgram.start(words, ends[1])
        close(ends[1])
        guard let child = started else { return nil }
        // A few hundred bytes fit into the buffer of the socket.
        _ = send(ends[0], input, input.count, Int32(MSG_NOSIGNAL))
        shutdown(ends[0], Int32(SHUT_WR))
        let output = read(ends[0], until: deadline)
        // The program may have closed its output and still be running.
        let status = agent_wait_or_kill(child, output == nil ? 0 : milliseconds(until: deadline))
        return Outcome(status: status, output: output ?? [])
    }

    /// The length of the longest output, in bytes.
    private static let outputLimit = 65_536

    /// Reads to the end of the output; nil if it does not end in time, or is too long.
    private static func read(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> [UInt8]? {
        var output: [UInt8] = []
        // An array that grows would leave copies of the key in memory.
        output.reserveCapacity(outputLimit + 4096)
        var buffer = [UInt8](repeating: 0, count: 4096)
        defer { buffer.wipe() }
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while output.count < outputLimit {
            let ready = poll(&event, 1, milliseconds(until: deadline))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return output }
            output += buffer.prefix(count)
        }
        return nil
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = (deadline - ContinuousClock.now) / .milliseconds(1)
        return Int32(max(left.rounded(.up), 0))
    }

    private static var streamType: Int32 {
        #if os(Linux)
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            SOCK_STREAM
        #endif
    }
}

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
