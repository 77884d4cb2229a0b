internal import TokenCache
internal import TokenModel

/// The state of a request that tries the refresh tokens of a plan in order.
struct RedemptionAttempt {
    private(set) var plan: RedemptionPlan
    /// Whether other redemptions have ended since the plan was made.
    var isOutdated = false
    var result: TokenResult?
    /// The refresh token that was sent last.
    var sent: RefreshTokenRecord?
    /// Whether the reply to an earlier redemption of that token was lost.
    var wasInterrupted = false
    private(set) var refusal: Refusal?
    /// Whether a refusal, or a token that had expired, has changed the cache, which the result or the last error then says.
    private(set) var hasChangedCache = false
    /// Whether a token had expired before its response was read.
    private var wasLate = false
    private var rejected: Set<Secret> = []
    /// Whether another plan was made after all tokens of one were refused.
    private var hasBegunAgain = false

    init(_ plan: RedemptionPlan) { self.plan = plan }

    /// The refresh token to try next; nil if there is a result, or no further token.
    var next: RefreshTokenRecord? {
        result == nil ? plan.candidates.first { !rejected.contains($0.secret) } : nil
    }

    /// Continues with a new decision of the cache.
    mutating func update(_ decision: SilentDecision) {
        isOutdated = false
        switch decision {
        case .use(let result, _): self.result = result
        case .redeem(let plan): self.plan = plan
        case .interactionRequired, .ambiguousAccount, .unread: plan.candidates = []
        }
    }

    /// Continues, when every refresh token of the plan has been refused, with a new decision of the cache: with a token that need not be
    /// renewed, or with refresh tokens that have not been refused. Once: a provider could send another token with each refusal.
    mutating func updateAfterRefusals(_ decision: SilentDecision) {
        guard sent != nil, !hasBegunAgain else { return }
        hasBegunAgain = true
        switch decision {
        case .use(_, .some), .redeem: update(decision)
        // A token that should be renewed and cannot be is the plan's fallback.
        case .use, .interactionRequired, .ambiguousAccount, .unread: break
        }
    }

    /// Notes the result of a redemption, unless its token has expired before the response was read, since the machine has slept meanwhile.
    /// Then, once, another one is redeemed with the refresh token that is in the cache now: this one is of no use to an app.
    ///
    /// - Parameter began: the time at which the redemption began.
    mutating func note(_ result: TokenResult, since began: Int64, now: Int64) {
        guard !wasLate, result.expiresOn <= now, now - began > Self.timeLimit else { return self.result = result }
        (wasLate, hasChangedCache, isOutdated) = (true, true, true)
    }

    /// The time that a response takes at most while the machine is awake, in seconds. A provider may issue tokens that live for less.
    private static let timeLimit: Int64 = 30

    /// Records that the token that was sent last was refused.
    mutating func noteRefusal(_ error: TokenError, isV1: Bool) {
        hasChangedCache = hasChangedCache || error.details.hasChangedCache
        guard let sent else { return plan.candidates = [] }
        rejected.insert(sent.secret)
        // ADAL reports the refusal of the app's own refresh token, even if a family refresh token is tried after it.
        if !isV1 || sent.familyID == nil || refusal == nil {
            refusal = Refusal(error, wasInterrupted: wasInterrupted)
        }
    }
}
