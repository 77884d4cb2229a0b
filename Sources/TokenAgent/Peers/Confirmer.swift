internal import AccessPolicy
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

/// Asks a person to confirm requests: with the configured program, or else on the terminal of the process that sent the request.
///
/// One question is asked at a time, on a thread of its own.
final class Confirmer: Sendable {
    /// The path of a program that gets the question as its argument, and exits with status 0 for yes; nil if there is none.
    private let askpass: String?
    private let queue = DispatchQueue(label: "sso-agent.confirmation")
    private let waiting = Mutex(0)

    init(askpass: String?) { self.askpass = askpass }

    /// Asks whether a peer may send a request.
    ///
    /// - Returns: a future of `requestDenied` (-53011) if the answer is not yes, or if nobody can be asked.
    func ask(
        _ request: PolicyRequest, from peer: PeerIdentity, on loop: any EventLoop
    ) -> EventLoopFuture<Result<Void, TokenError>> {
        let promise = loop.makePromise(of: Result<Void, TokenError>.self)
        let isAccepted = waiting.withLock { count in
            guard count < Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard isAccepted else {
            promise.succeed(.failure(Self.denied(request, "too many requests wait for a confirmation")))
            return promise.futureResult
        }
        queue.async { [self] in
            let outcome = Result { () throws(TokenError) in try ask(request, from: peer) }
            waiting.withLock { $0 -= 1 }
            promise.succeed(outcome)
        }
        return promise.futureResult
    }

    private func ask(_ request: PolicyRequest, from peer: PeerIdentity) throws(TokenError) {
        let question = TerminalText.neutralised(
            "sso-agent: \(peer.description) asks to \(Self.purpose(of: request)).")
        let isConfirmed: Bool
        if let askpass {
            isConfirmed = Self.run(askpass, question)
        } else if let terminal = Terminal(of: peer) {
            isConfirmed = terminal.confirm(question, seconds: Self.timeLimit)
        } else {
            throw Self.denied(
                request,
                "a person has to confirm it, and the process is not in the foreground of a terminal; run it in one, or in the "
                    + "agent's configuration set askpass in [confirmation] or add a [[rule]] that allows it")
        }
        guard isConfirmed else { throw Self.denied(request, "it was not confirmed") }
    }

    /// Runs a program that asks the question in a window, as those for `SSH_ASKPASS` do.
    private static func run(_ program: String, _ question: String) -> Bool {
        let command: [String] = ["/usr/bin/env", "SSH_ASKPASS_PROMPT=confirm", program, question]
        var words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        guard agent_spawn(&words, -1, &child) == 0 else { return false }
        return agent_wait_or_kill(child, timeLimit * 1000) == 0
    }

    private static func purpose(of request: PolicyRequest) -> String {
        let group = request.subject.sharingGroup.map { UntrustedText.clean($0.name, limit: 80) } ?? ""
        return switch request.name {
        case "export_cache": "export every refresh token of the sharing group \(group)"
        case "import_cache": "import accounts and tokens into the sharing group \(group)"
        case "redeem_grant": "sign in with a refresh token or an assertion"
        case "set_key": "change the key of the token store"
        default: "send the request \(request.name)"
        }
    }

    private static func denied(_ request: PolicyRequest, _ reason: String) -> TokenError {
        TokenError(.requestDenied, "\(request.name) is refused: \(reason)")
    }

    private static let maximumWaiting = 8
    /// In seconds.
    private static let timeLimit: Int32 = 60
}

extension Confirmer {
    /// The controlling terminal of a peer.
    struct Terminal: ~Copyable {
        private let file: PosixFiles.FileDescriptor

        /// Opens the terminal; nil unless the process still runs, is in the foreground of its terminal, and the terminal is the
        /// user's.
        init?(of peer: PeerIdentity) {
            guard let processID = peer.processID,
                let times = (try? ProcessFolder(pidfd: -1, processID: processID))?.times,
                times.isInForeground, times.start == peer.startTime
            else { return nil }
            let device = UInt32(bitPattern: times.terminal)
            let (major, minor) = ((device >> 8) & 0xFFF, (device & 0xFF) | ((device >> 12) & 0xFFF00))
            // Pseudoterminals have the major numbers 136 to 143; the consoles have 4.
            let path =
                switch major {
                case 136...143: "/dev/pts/\((major - 136) << 20 | minor)"
                case 4: "/dev/tty\(minor)"
                default: ""
                }
            let number = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
            guard let opened = try? PosixFiles.FileDescriptor(opened: number) else { return nil }
            var status = stat()
            guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFCHR, status.st_uid == geteuid(),
                UInt64(status.st_rdev) == UInt64(makedev(major, minor))
            else { return nil }
            file = opened
        }

        /// Asks a question, and returns whether the answer is yes. What has been typed before the question does not count.
        func confirm(_ question: String, seconds: Int32) -> Bool {
            tcflush(file.number, TCIFLUSH)
            let text = "\r\n\(question)\r\nType yes to allow it, within \(seconds) seconds: "
            let prompt = Array(text.utf8)
            guard write(file.number, prompt, prompt.count) == prompt.count else { return false }
            return answer(until: MonotonicSeconds.now + Double(seconds)) == "yes"
        }

        private func answer(until deadline: Double) -> String {
            var line: [UInt8] = []
            while line.count < 64 {
                let rest = deadline - MonotonicSeconds.now
                var event = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
                guard rest > 0, poll(&event, 1, Int32(rest * 1000)) > 0 else { return "" }
                var byte: UInt8 = 0
                guard read(file.number, &byte, 1) == 1 else { return "" }
                if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
                line.append(byte)
            }
            return String(decoding: line, as: UTF8.self)
        }
    }

    private enum MonotonicSeconds {
        static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
    }
}

#if os(Linux)
    /// `makedev(3)`, a macro that Swift does not import.
    private func makedev(_ major: UInt32, _ minor: UInt32) -> UInt64 {
        UInt64(minor & 0xFF) | UInt64(major & 0xFFF) << 8 | UInt64(minor & ~0xFF) << 12
    }
#else
    private func makedev(_ major: UInt32, _ minor: UInt32) -> UInt64 { UInt64(major) << 24 | UInt64(minor) }
#endif
