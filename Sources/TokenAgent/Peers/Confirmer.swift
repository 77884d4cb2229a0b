internal import AccessPolicy
internal import CAgentSystem
internal import Dispatch
internal import NIOCore
internal import PosixFiles
internal import Synchronization
internal import TokenModel

/// Asks a person to confirm requests: with the configured program, or else on the terminal of the process that sent the
/// request.
///
/// One question is asked at a time, on a thread of its own. The number of waiting questions is limited, in all and for
/// each peer, since each may take a minute.
final class Confirmer: Sendable {
    /// The path of a program that gets the question as its argument, and exits with status 0 for yes; nil if there is none.
    private let askpass: String?
    private let helper: HelperProcess?
    private let queue = DispatchQueue(label: "sso-agent.confirmation")
    /// The number of questions of each peer that wait or are asked.
    private let waiting = Mutex<[LimitedPeer: Int]>([:])

    /// - Parameter helper: the process that asks, with the program that it was started with; nil if this one does.
    init(askpass: String?, helper: HelperProcess?) {
        self.askpass = askpass
        self.helper = helper
    }

    /// Whether the process that describes peers, and asks, has ended.
    var helperHasEnded: Bool { helper.map { !$0.isRunning } ?? false }

    /// Asks whether a peer may send a request.
    ///
    /// - Returns: a future of `requestDenied` (-53011) if the answer is not yes, or if nobody can be asked.
    func ask(
        _ request: PolicyRequest, from peer: PeerIdentity, on loop: any EventLoop
    ) -> EventLoopFuture<Result<Void, TokenError>> {
        let promise = loop.makePromise(of: Result<Void, TokenError>.self)
        let asker = LimitedPeer(peer, at: nil)
        let isAccepted = waiting.withLock { waiting in
            guard waiting.values.reduce(0, +) < Self.limit, waiting[asker, default: 0] < Self.limitOfPeer else {
                return false
            }
            waiting[asker, default: 0] += 1
            return true
        }
        guard isAccepted else {
            promise.succeed(.failure(Self.denied(request, "too many requests wait for a confirmation")))
            return promise.futureResult
        }
        queue.async { [self] in
            let outcome = Result { () throws(TokenError) in try ask(request, from: peer) }
            waiting.withLock { $0[asker] = $0[asker].flatMap { count in count > 1 ? count - 1 : nil } }
            promise.succeed(outcome)
        }
        return promise.futureResult
    }

    private func ask(_ request: PolicyRequest, from peer: PeerIdentity) throws(TokenError) {
        let purpose = request.purpose ?? "send the request \(request.name)"
        let question = TerminalText.line("\(peer.description) asks to \(purpose).")
        switch answer(to: question, on: peer) {
        case 1: return
        case 0:
            let advice = askpass == nil ? "; run it again, and type yes" : ""
            throw Self.denied(request, "it was not confirmed\(advice)")
        case let answer:
            let place =
                answer == AGENT_FOREIGN_TERMINAL
                ? "the terminal of the process belongs to another user, as after su; run it in one of a login of this user"
                : "the process is not in the foreground of a terminal; run it in one"
            throw Self.denied(
                request,
                "a person has to confirm it, and \(place), or in the agent's configuration set askpass in [confirmation] or add a "
                    + "[[rule]] that allows it")
        }
    }

    /// 1 for yes, 0 for no; negative if nobody can be asked.
    private func answer(to question: String, on peer: PeerIdentity) -> Int32 {
        let (processID, start) = (peer.processID ?? 0, peer.startTime ?? 0)
        if let helper { return agent_ask_to_confirm(helper.confirmation, processID, start, question) }
        return agent_confirm(askpass, processID, start, question)
    }

    private static func denied(_ request: PolicyRequest, _ reason: String) -> TokenError {
        TokenError(.requestDenied, "\(request.name) is refused: \(reason)")
    }

    /// The numbers of questions that wait or are asked: of all peers, and of one.
    private static let limit = 8
    private static let limitOfPeer = 2
}
