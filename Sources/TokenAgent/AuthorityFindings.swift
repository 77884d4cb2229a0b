internal import NIOCore
internal import TokenModel

/// What the agent has found out about authorities since it started. Clouds that were learnt are in the cache, and outlive it.
struct AuthorityFindings {
    /// Instance discoveries under way, by the host asked about.
    var discoveries: [String: EventLoopFuture<Result<Void, TokenError>>] = [:]
    /// AD FS hosts that were found to be their users' own.
    var validatedFarms: Set<String> = []
    private var unknownHosts: [String: (error: TokenError, until: Int64)] = [:]

    /// Remembers that a host is no authority, so that it need not be asked about each time.
    mutating func remember(_ error: TokenError, about environment: String, now: Int64) {
        // Local apps choose authorities freely.
        if unknownHosts.count >= Self.limit { unknownHosts.removeAll() }
        unknownHosts[environment] = (error, now + Self.lifetime)
    }

    /// Why a host is not asked again yet; nil when it may be.
    func refusal(of environment: String, now: Int64) -> TokenError? {
        guard !unknownHosts.isEmpty, let known = unknownHosts[environment], now < known.until else { return nil }
        return known.error
    }

    /// An agent runs for weeks, in which an authority may come to be.
    private static let lifetime: Int64 = 3600
    private static let limit = 256
}
