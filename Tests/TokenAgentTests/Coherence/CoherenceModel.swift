/// A model of the agent, the generation page and an app that keeps a result, with another app that signs the account out and in again.
///
/// docs/coherence.md describes it, and what it assumes. Each process takes one small step at a time, in every order. A token is
/// numbered by the sign-in that brought it; 0 is none.
struct CoherenceModel {
    /// A change of the protocol that makes it wrong; the explorer has to find that out.
    enum Mutation: CaseIterable {
        /// A removal is acknowledged before the generation changes.
        case changesTheGenerationAfterTheAcknowledgement
        /// The app reads the generation when it has the answer.
        case notesTheGenerationAfterTheAnswer
        /// A removal changes the generation in one turn of the event loop, and the cache in a later one.
        case changesTheCacheInALaterTurn
        /// The app does not look whether the agent lives.
        case ignoresTheEndOfTheAgent
        /// The kernel lets another agent start before it has marked the page of the one that was killed.
        case marksThePageAfterTheNextStart
        /// The app compares the generations that it has noted with the page of another agent.
        case comparesWithThePageOfAnotherAgent
    }

    /// The steps of a change of the agent's cache that are left.
    enum Step: UInt8 {
        case changeMemory, changeGeneration, endTurn, makeDurable, acknowledge
    }

    struct Change: Hashable {
        /// The token that is removed, or else the one that is added.
        var isRemoval: Bool
        var token: UInt8
        var steps: [Step]
    }

    /// What is known of a kept result, or of a request in progress: the agent whose page was read, its generation, and the token.
    struct Noted: Hashable {
        var agent: UInt8
        var generation: UInt8
        var token: UInt8 = 0
    }

    /// The app's request.
    enum Call: Hashable {
        case none
        /// The generation has been read, and nothing is sent yet.
        case noted(Noted)
        /// The request has been sent to an agent, which has not decided yet.
        case sent(Noted, to: UInt8)
        /// The reply is on its way.
        case answered(Noted)
        /// The app has the answer.
        case received(Noted)
    }

    /// A search in the kept results: what was acknowledged before it began, and what it has read so far.
    struct Search: Hashable {
        var acknowledged: Set<UInt8>
        var sawAgentAlive = false
    }

    struct State: Hashable {
        /// The agent's number; each start has the next one.
        var agent: UInt8 = 1
        var isRunning = true
        /// Whether the kernel has marked the page of an agent, by its number.
        var isMarked: [Bool] = [false, false, false]
        /// The generation in the page of each agent.
        var generations: [UInt8] = [0, 0, 0]
        /// The token in the agent's memory, and on disk.
        var memory: UInt8 = 1
        var disk: UInt8 = 1
        /// The change that the agent is making; during a turn of the event loop it does nothing else.
        var change: Change?
        var isInTurn = false
        /// The tokens whose removal was acknowledged.
        var acknowledged: Set<UInt8> = []
        var signIns: UInt8 = 1
        /// The number of removals and sign-ins of the other app that are left.
        var changesLeft: UInt8 = 3
        var startsLeft: UInt8 = 1

        /// The agent to whose page the app is connected; 0 if there is no connection.
        var connection: UInt8 = 1
        var call = Call.none
        var callsLeft: UInt8 = 2
        var kept: Noted?
        var search: Search?
        /// A token that was handed out although its removal had been acknowledged before the search or the call began.
        var violation: UInt8 = 0
        /// What was acknowledged before the call in progress began.
        var acknowledgedBeforeCall: Set<UInt8> = []
    }

    let mutation: Mutation?

    init(_ mutation: Mutation? = nil) { self.mutation = mutation }

    var start: State { State() }

    /// The states that one step leads to, with the name of the step.
    func successors(of state: State) -> [(step: String, state: State)] {
        agentSteps(state) + otherAppSteps(state) + failures(state) + callSteps(state) + searchSteps(state)
    }

    // MARK: The agent

    private func agentSteps(_ state: State) -> [(String, State)] {
        guard state.isRunning else { return [] }
        var next: [(String, State)] = []
        if case .sent(let noted, let agent) = state.call, agent == state.agent, !state.isInTurn {
            var answered = state
            answered.call = .answered(Noted(agent: noted.agent, generation: noted.generation, token: state.memory))
            next.append(("the agent decides", answered))
        }
        guard var change = state.change, let step = change.steps.first else { return next }
        var stepped = state
        change.steps.removeFirst()
        stepped.change = change.steps.isEmpty ? nil : change
        stepped.isInTurn = step == .changeMemory || step == .changeGeneration
        switch step {
        case .changeMemory: stepped.memory = change.isRemoval ? 0 : change.token
        case .changeGeneration: stepped.generations[Int(state.agent)] += 1
        case .endTurn: break
        case .makeDurable: stepped.disk = change.isRemoval ? 0 : change.token
        case .acknowledge: if change.isRemoval { stepped.acknowledged.insert(change.token) }
        }
        next.append(("the agent: \(step) (\(change.isRemoval ? "removal" : "sign-in"))", stepped))
        return next
    }

    /// The other app asks for a change, of which the agent makes one at a time.
    private func otherAppSteps(_ state: State) -> [(String, State)] {
        guard state.isRunning, state.change == nil, state.changesLeft > 0 else { return [] }
        var next = state
        next.changesLeft -= 1
        if state.memory == 0 {
            next.signIns += 1
            next.change = Change(
                isRemoval: false, token: next.signIns,
                steps: [.makeDurable, .changeMemory, .changeGeneration, .endTurn, .acknowledge])
            return [("the other app signs in", next)]
        }
        let steps: [Step] =
            switch mutation {
            case .changesTheGenerationAfterTheAcknowledgement:
                [.changeMemory, .endTurn, .makeDurable, .acknowledge, .changeGeneration, .endTurn]
            case .changesTheCacheInALaterTurn:
                [.changeGeneration, .endTurn, .changeMemory, .endTurn, .makeDurable, .acknowledge]
            default: [.changeMemory, .changeGeneration, .endTurn, .makeDurable, .acknowledge]
            }
        next.change = Change(isRemoval: true, token: state.memory, steps: steps)
        return [("the other app signs out", next)]
    }

    /// The agent is killed, the kernel marks its page, and another agent starts on the same store.
    private func failures(_ state: State) -> [(String, State)] {
        let agent = Int(state.agent)
        guard !state.isRunning else {
            guard state.startsLeft > 0 else { return [] }
            var killed = state
            (killed.isRunning, killed.change, killed.isInTurn) = (false, nil, false)
            return [("the agent is killed", killed)]
        }
        var next: [(String, State)] = []
        if !state.isMarked[agent] {
            var marked = state
            marked.isMarked[agent] = true
            next.append(("the kernel marks the page", marked))
        }
        if state.startsLeft > 0, state.isMarked[agent] || mutation == .marksThePageAfterTheNextStart {
            var started = state
            started.startsLeft -= 1
            started.agent += 1
            (started.isRunning, started.memory) = (true, state.disk)
            next.append(("another agent starts", started))
        }
        return next
    }

    // MARK: The app

    private func callSteps(_ state: State) -> [(String, State)] {
        var next = connectionSteps(state)
        switch state.call {
        case .none:
            guard state.callsLeft > 0, state.connection > 0 else { break }
            var noted = state
            noted.callsLeft -= 1
            noted.acknowledgedBeforeCall = state.acknowledged
            noted.call = .noted(
                Noted(agent: state.connection, generation: state.generations[Int(state.connection)]))
            next.append(("the app notes the generation", noted))
        case .noted(let noted):
            guard state.connection > 0 else { break }
            var sent = state
            sent.call = .sent(noted, to: state.connection)
            next.append(("the app sends", sent))
        case .sent(let noted, let agent):
            // The connection broke: the request is sent again to the next agent.
            guard state.connection > 0, state.connection != agent else { break }
            var sent = state
            sent.call = .sent(noted, to: state.connection)
            next.append(("the app sends again", sent))
        case .answered(var noted):
            var received = state
            if noted.token > 0, state.acknowledgedBeforeCall.contains(noted.token) { received.violation = noted.token }
            if mutation == .notesTheGenerationAfterTheAnswer, state.connection > 0 {
                noted.generation = state.generations[Int(state.connection)]
                noted.agent = state.connection
            }
            received.call = .received(noted)
            next.append(("the app receives \(noted.token)", received))
        case .received(let noted):
            var done = state
            done.call = .none
            let isSamePage = noted.agent == state.connection || mutation == .comparesWithThePageOfAnotherAgent
            if noted.token > 0, isSamePage { done.kept = noted }
            next.append(("the app keeps", done))
        }
        return next
    }

    /// The app notices some time later that the connection has ended, and connects again.
    private func connectionSteps(_ state: State) -> [(String, State)] {
        var next: [(String, State)] = []
        if state.connection > 0, state.isMarked[Int(state.connection)] {
            var lost = state
            lost.connection = 0
            if mutation != .comparesWithThePageOfAnotherAgent { lost.kept = nil }
            next.append(("the app loses the connection", lost))
        }
        if state.connection == 0, state.isRunning {
            var connected = state
            connected.connection = state.agent
            next.append(("the app connects", connected))
        }
        return next
    }

    /// The app searches its kept results: it looks whether the agent lives, and then at the generation. It may search at any time,
    /// also while a call is in progress.
    private func searchSteps(_ state: State) -> [(String, State)] {
        guard let kept = state.kept else {
            guard state.search != nil else { return [] }
            var ended = state
            ended.search = nil
            return [("nothing is kept any more", ended)]
        }
        // A result that is compared with another agent's page.
        let page = mutation == .comparesWithThePageOfAnotherAgent ? state.connection : kept.agent
        guard page > 0 else { return [] }
        var next = state
        guard var search = state.search else {
            next.search = Search(acknowledged: state.acknowledged)
            return [("the app begins to search", next)]
        }
        guard search.sawAgentAlive else {
            let isAlive = !state.isMarked[Int(page)] || mutation == .ignoresTheEndOfTheAgent
            search.sawAgentAlive = true
            next.search = isAlive ? search : nil
            return [("the app looks whether agent \(page) lives: \(isAlive)", next)]
        }
        next.search = nil
        if state.generations[Int(page)] == kept.generation, search.acknowledged.contains(kept.token) {
            next.violation = kept.token
        }
        return [("the app compares the generation", next)]
    }
}

/// Visits every state that can be reached, in the order of the number of steps to it.
struct StateExplorer {
    let model: CoherenceModel
    private(set) var stateCount = 0
    /// The steps to the first state in which a token was handed out after its removal had been acknowledged; nil if there is none.
    private(set) var violation: [String]?

    init(_ model: CoherenceModel) {
        self.model = model
        explore()
    }

    private mutating func explore() {
        var numbers: [CoherenceModel.State: Int] = [model.start: 0]
        var visited: [(state: CoherenceModel.State, parent: Int, step: String)] = [(model.start, -1, "start")]
        var index = 0
        while index < visited.count {
            let state = visited[index].state
            if state.violation > 0 {
                var (steps, place) = ([String](), index)
                while place > 0 {
                    steps.append(visited[place].step)
                    place = visited[place].parent
                }
                violation = steps.reversed()
                break
            }
            for (step, next) in model.successors(of: state) where numbers[next] == nil {
                numbers[next] = visited.count
                visited.append((next, index, step))
            }
            index += 1
        }
        stateCount = visited.count
    }
}
