internal import TestSupport
internal import Testing

@testable internal import TokenAgent

/// Places for work, of which each member may have as many as are free.
@Suite(.bounded) struct ConcurrencyLimitTests {
    @Test func givesOneMemberHalfOfThePlaces() async {
        let members = Members(places: 16)
        await members.start(20, of: 1)
        #expect(await members.running == [1: 8])
        await members.finish()
    }

    /// Only many members together leave no free place.
    @Test func givesEachFurtherMemberHalfOfWhatIsLeft() async {
        let members = Members(places: 16)
        for member in 1...6 { await members.start(20, of: member) }
        #expect(await members.running == [1: 8, 2: 4, 3: 2, 4: 1, 5: 1])
        await members.finish()
    }

    @Test func givesTheNextPlaceToTheMemberWithTheLeastWork() async {
        let members = Members(places: 16)
        for member in 1...6 { await members.start(20, of: member) }
        await members.endOne(of: 1)
        #expect(await members.running == [1: 7, 2: 4, 3: 2, 4: 1, 5: 1, 6: 1])
        await members.finish()
    }

    @Test func givesAllMembersEqualSharesWhenSomeWorkHasEnded() async {
        let members = Members(places: 12)
        for member in 1...2 { await members.start(20, of: member) }
        #expect(await members.running == [1: 6, 2: 3])
        for _ in 0..<2 { await members.endOne(of: 1) }
        #expect(await members.running == [1: 4, 2: 4])
        // The place of one goes to the same member.
        for _ in 0..<3 { await members.endOne(of: 2) }
        #expect(await members.running == [1: 4, 2: 4])
        await members.start(20, of: 3)
        #expect(await members.running == [1: 4, 2: 4, 3: 2])
        await members.finish()
    }

    @Test func servesMembersWithoutAPlaceInOrderOfArrival() async {
        let members = Members(places: 2)
        for member in [1, 2, 4, 3] { await members.start(1, of: member) }
        #expect(await members.running == [1: 1, 2: 1])
        await members.endOne(of: 2)
        #expect(await members.running == [1: 1, 4: 1])
        await members.finish()
    }

    @Test func beginsSharedWorkInThePlaceOfEachOfItsMembers() async {
        let members = Members(places: 2)
        await members.start(2, of: 1)
        #expect(await members.running == [1: 1])
        await members.shareLatest(with: 2)
        #expect(await members.running == [1: 1, 2: 1])
        await members.finish()
        #expect(await members.running.isEmpty)
    }

    @Test func beginsNoWorkThatWasAbandonedWhileItWaited() async {
        let members = Members(places: 2)
        await members.start(2, of: 1)
        await members.abandonLatest()
        await members.start(1, of: 1)
        #expect(await members.running == [1: 1])
        await members.endOne(of: 1)
        #expect(await members.running == [1: 1])
        #expect(await members.begun == 2)
        await members.finish()
        #expect(await members.running.isEmpty)
    }

    @Test func freesThePlaceOfWorkThatFails() async {
        let members = Members(places: 2)
        await members.fail(of: 1)
        await members.start(2, of: 2)
        #expect(await members.running == [2: 1])
        await members.finish()
        #expect(await members.running.isEmpty)
    }
}

/// Work of several members, which runs until the test ends it.
private actor Members {
    private let limit: ConcurrencyLimit<Int>
    private var endings: [Int: [CheckedContinuation<Void, Never>]] = [:]
    private var tasks: [Task<Void, Never>] = []
    /// The number of tasks that run or wait.
    private var alive = 0
    private var isFinishing = false
    /// The number of tasks whose work has begun.
    private(set) var begun = 0
    private var latest: SharedRequest<Int>?

    init(places: Int) { limit = ConcurrencyLimit(places: places) }

    /// The numbers of what runs; a member without any is absent.
    var running: [Int: Int] { limit.running }

    /// Starts work of a member, and returns when it runs or waits.
    func start(_ count: Int, of member: Int) async {
        alive += count
        for _ in 0..<count { tasks.append(Task { await work(member) }) }
        await settle()
    }

    /// Adds a member to the work that was started last.
    func shareLatest(with member: Int) { latest?.add(member) }

    /// Abandons the work that was started last, and waits.
    func abandonLatest() async {
        alive -= 1
        latest?.abandon()
        await settle()
    }

    func fail(of member: Int) async {
        let request = SharedRequest(member)
        _ = try? await limit.run(for: request) { () async throws(CancellationError) in throw CancellationError() }
    }

    /// Ends the work of a member that has run longest, and returns when what follows it runs.
    func endOne(of member: Int) async {
        alive -= 1
        endings[member]?.removeFirst().resume()
        await settle()
    }

    /// Ends all work, also what waits.
    func finish() async {
        isFinishing = true
        for ending in endings.values.joined() { ending.resume() }
        for task in tasks { await task.value }
    }

    private func settle() async {
        while running.values.reduce(0, +) + limit.waitingCount != alive
            || endings.mapValues(\.count).filter({ $0.value > 0 }) != running
        {
            await letOthersRun()
        }
    }

    private func work(_ member: Int) async {
        let request = SharedRequest(member)
        latest = request
        _ = await limit.run(for: request) {
            begun += 1
            if !isFinishing { await withCheckedContinuation { endings[member, default: []].append($0) } }
        }
    }
}
