internal import Logging
internal import NIOCore
internal import TokenModel

/// The parts that the other parts of the agent share: the cache in memory, the queue of its changes, and the token service.
///
/// Created once, on the actor of `CacheOwner`, and used there only. Its classes are not sendable, so the compiler checks that.
struct AgentCore {
    let loop: any EventLoop
    let metrics: AgentMetrics
    /// The clock, in seconds since 1970.
    let now: @Sendable () -> Int64
    let logger: Logger
    let service: any TokenService
    let tasks: TaskTracker
    /// The packed replies of cache hits.
    let replies: KeptReplies
    /// Ends these replies, and the results that apps keep.
    let answers: AnswerChanges
    /// Tells subscribers of changes.
    let events: EventFeeds
    let memory: CacheMemory
    /// A lock for each refresh token that is being redeemed.
    let tokensInUse: KeyedLock<Secret>
    let notes: RedemptionNotes
    let log: StoreLog
    let store: any RecordStore
    let commits: CommitQueue
    let reader: TokenReader
    let authorities: AuthorityResolver
    let throttle: ThrottleTable
    let removals: Removals
    let saver: TokenSaver

    init(
        loop: any EventLoop, timers: Timers, store: any RecordStore, service: any TokenService,
        metrics: AgentMetrics = AgentMetrics(), now: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        let service = MeteredTokenService(service: service, metrics: metrics)
        self.metrics = metrics
        self.loop = loop
        self.now = now
        self.logger = logger
        self.service = service
        tasks = TaskTracker(loop: loop, timers: timers)
        replies = KeptReplies()
        answers = AnswerChanges(replies)
        events = EventFeeds(loop: loop, now: now)
        memory = CacheMemory(answers, events, on: loop)
        tokensInUse = KeyedLock()
        notes = RedemptionNotes(memory: memory, tokensInUse: tokensInUse)
        self.store = store
        log = StoreLog(store: store, logger: logger, now: now)
        commits = CommitQueue(memory: memory, notes: notes, store: store, tasks: tasks, log: log)
        reader = TokenReader(memory: memory, commits: commits, tokensInUse: tokensInUse, store: store)
        authorities = AuthorityResolver(
            memory: memory, answers: answers, commits: commits, service: service, tasks: tasks, now: now)
        throttle = ThrottleTable()
        removals = Removals(memory: memory, commits: commits, throttle: throttle)
        saver = TokenSaver(
            memory: memory, commits: commits, reader: reader, notes: notes, tokensInUse: tokensInUse,
            throttle: throttle,
            authorities: authorities, now: now)
    }
}
