internal import NIOCore
internal import TokenCache
internal import TokenModel

/// Finds the pages that end the sessions of a browser, for sign-outs.
///
/// A page that its provider does not name in time is left out: the sign-out does not depend on it. Used on the actor of `CacheOwner` only.
final class SignOutPages {
    private let loop: any EventLoop
    private let memory: CacheMemory
    private let service: any TokenService
    private let tasks: TaskTracker
    /// The number of providers that are being asked.
    private var asked = 0

    init(_ core: AgentCore) {
        (loop, memory, service, tasks) = (core.loop, core.memory, core.service, core.tasks)
    }

    /// The search for the pages of one request.
    private final class Search {
        /// The pages that were found, by the places of their providers in the list.
        var pages: [Int: String] = [:]
        /// The number of providers that have not answered.
        var waiting: Int
        let ended: EventLoopPromise<Void>

        init(_ ended: EventLoopPromise<Void>, waiting: Int) {
            (self.ended, self.waiting) = (ended, waiting)
        }
    }

    /// Begins to look for the pages of the accounts that a sign-out means, as the cache knows them now.
    ///
    /// - Returns: a future of the pages that are found within the time limit, in the order of the accounts.
    func find(for request: RemoveAccount) -> EventLoopFuture<Result<[String], TokenError>> {
        let scheme = service.allowsLoopbackHTTP ? "http" : "https"
        let places = memory.cache.signOutPlaces(of: request, localScheme: scheme).prefix(Self.limit - asked)
        guard !places.isEmpty else { return loop.makeSucceededFuture(.success([])) }
        let search = Search(loop.makePromise(of: Void.self), waiting: places.count)
        for (index, place) in places.enumerated() { ask(place, index, search) }
        return tasks.start { () async throws(TokenError) in
            await self.tasks.sleep(for: Self.timeLimit, orUntil: search.ended.futureResult)
            return search.pages.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// Begins to ask a provider for its page.
    private func ask(_ place: SignOutPlace, _ index: Int, _ search: Search) {
        asked += 1
        tasks.start { () async throws(TokenError) in
            defer {
                self.asked -= 1
                search.waiting -= 1
                if search.waiting == 0 { search.ended.succeed() }
            }
            search.pages[index] = try await self.service.signOutPage(of: place.authority, for: place.clientID)
        }
    }

    /// A sign-out waits no longer for a provider that may be unreachable.
    private static let timeLimit = TimeAmount.seconds(5)
    /// The number of providers that are asked at a time, for all peers: an app could use up the connections with one that never answers.
    private static let limit = 8
}
