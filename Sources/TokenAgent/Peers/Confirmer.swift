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

/// Asks a person to confirm requests: with the configured program, or else on the terminal of the process that sent the
/// request.
///
/// One question is asked at a time, on a thread of its own. The number of waiting questions is limited, in all and for
/// each peer, since each may take a minute. A question is withdrawn when its connection is closed, and when the agent stops.
final class Confirmer: Sendable {
    /// A connection whose requests are confirmed.
    final class Connection: Sendable {}

    private struct Question {
        let peer: LimitedPeer
        let connection: Connection?
        var isWithdrawn = false
    }

    private struct State {
        /// The questions that wait or are asked.
        var questions: [UInt64: Question] = [:]
        var lastNumber: UInt64 = 0
        /// The number of the question that is asked.
        var asked: UInt64?
        var isStopping = false
    }

    /// The path of a program that gets the question as its argument, and exits with status 0 for yes; nil if there is none.
    private let askpass: String?
    private let helper: HelperProcess?
    /// Two sockets, by which a question that this process asks is withdrawn; nil if the helper asks.
    private let withdrawal: SocketPair?
    private let queue = DispatchQueue(label: "sso-agent.confirmation")
    private let state = Mutex(State())

    /// - Parameter helper: the process that asks, with the program that it was started with; nil if this one does.
    init(askpass: String?, helper: HelperProcess?) {
        self.askpass = askpass
        self.helper = helper
        withdrawal = try? helper == nil ? SocketPair() : nil
    }

    deinit {
        guard let withdrawal else { return }
        close(withdrawal.first)
        close(withdrawal.second)
    }

    /// Whether the helper, which describes peers and asks, has ended.
    var helperHasEnded: Bool { helper.map { !$0.isRunning } ?? false }

    /// Asks whether a peer may send a request.
    ///
    /// - Parameter connection: the connection with which the question ends; nil for none.
    /// - Returns: a future of `requestDenied` (-53011) if the answer is not yes, or if nobody can be asked.
    func ask(
        _ request: PolicyRequest, from peer: PeerIdentity, of connection: Connection? = nil, on loop: any EventLoop
    ) -> EventLoopFuture<Result<Void, TokenError>> {
        let promise = loop.makePromise(of: Result<Void, TokenError>.self)
        guard let number = begin(Question(peer: LimitedPeer(peer, at: nil), connection: connection)) else {
            promise.succeed(.failure(Self.denied(request, "too many requests wait for a confirmation")))
            return promise.futureResult
        }
        queue.async { [self] in
            let outcome = Result { () throws(TokenError) in try confirm(request, from: peer, number) }
            state.withLock { $0.questions[number] = nil }
            promise.succeed(outcome)
        }
        return promise.futureResult
    }

    /// Withdraws the questions of a connection that is closed.
    func withdrawQuestions(of connection: Connection) { withdraw { $0.connection === connection } }

    /// Withdraws all questions, and returns when nobody is asked any more.
    func stop() async {
        state.withLock { $0.isStopping = true }
        withdraw { _ in true }
        await withCheckedContinuation { done in queue.async { done.resume() } }
    }

    /// Adds a question; returns its number, or nil if there are too many.
    private func begin(_ question: Question) -> UInt64? {
        state.withLock { state in
            let ofPeer = state.questions.values.count { $0.peer == question.peer }
            guard !state.isStopping, state.questions.count < Self.limit, ofPeer < Self.limitOfPeer else { return nil }
            state.lastNumber += 1
            state.questions[state.lastNumber] = question
            return state.lastNumber
        }
    }

    private func withdraw(_ matches: (Question) -> Bool) {
        state.withLock { state in
            for (number, question) in state.questions where !question.isWithdrawn && matches(question) {
                state.questions[number]?.isWithdrawn = true
                guard number == state.asked else { continue }
                if let socket = helper?.confirmation ?? withdrawal?.second { agent_withdraw_question(socket) }
            }
        }
    }

    private func confirm(_ request: PolicyRequest, from peer: PeerIdentity, _ number: UInt64) throws(TokenError) {
        let purpose = request.purpose ?? "send the request \(request.name)"
        // A sandbox may have another file at the path of the program that the person knows.
        let article = peer.sandbox == nil ? "" : "the sandboxed "
        let question = TerminalText.line("\(article)\(peer.description) asks to \(purpose).")
        switch answer(to: question, number, of: peer) {
        case 1: return
        case 0:
            let advice = askpass == nil ? "; run it again, and type yes" : ""
            throw Self.denied(request, "it was not confirmed\(advice)")
        case let answer:
            guard !helperHasEnded else {
                throw Self.denied(
                    request,
                    "a person has to confirm it, and the agent's helper process, which asks, has ended; restart sso-agent"
                )
            }
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

    /// 1 for yes, 0 for no, also if the question is withdrawn; negative if nobody can be asked.
    private func answer(to question: String, _ number: UInt64, of peer: PeerIdentity) -> Int32 {
        let (processID, start) = (peer.processID ?? 0, peer.startTime ?? 0)
        // The helper gets the question before it can get a withdrawal of it.
        let failure = state.withLock { state -> Int32? in
            guard state.questions[number]?.isWithdrawn == false else { return 0 }
            state.asked = number
            guard let helper else { return nil }
            return agent_send_question(helper.confirmation, processID, start, question) == 0 ? nil : -1
        }
        defer { endAsking() }
        if let failure { return failure }
        if let helper { return agent_receive_answer(helper.confirmation) }
        return agent_confirm(askpass, processID, start, question, withdrawal?.first ?? -1)
    }

    /// Marks the question as over, and discards a withdrawal of it, which would end the next question.
    private func endAsking() {
        state.withLock { state in
            state.asked = nil
            if let withdrawal { agent_forget_withdrawals(withdrawal.first) }
        }
    }

    private static func denied(_ request: PolicyRequest, _ reason: String) -> TokenError {
        TokenError(.requestDenied, "\(request.name) is refused: \(reason)")
    }

    /// The numbers of questions that wait or are asked: of all peers, and of one.
    private static let limit = 8
    private static let limitOfPeer = 2
}
