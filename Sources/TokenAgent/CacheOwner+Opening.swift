internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// How far loading the store has come.
enum Opening {
    case begun
    case underWay(EventLoopFuture<Result<Void, TokenError>>)
    case done
    /// Nothing can be served from the cache since this moment; the error says what to do.
    case failed(TokenError, at: Int64)
}

extension CacheOwner {
    /// Loads the store beside everything else; a second call joins the first, unless it brings a passphrase to try if the
    /// first fails.
    func open(passphrase: Secret? = nil) -> EventLoopFuture<Result<Void, TokenError>> {
        switch opening {
        case .underWay(let future):
            guard passphrase != nil else { return future }
            return future.flatMap { _ in self.assumeIsolated { $0.open(passphrase: passphrase) } }
        case .done: return loop.makeSucceededFuture(.success(()))
        case .begun, .failed: break
        }
        let future = later { owner async throws(TokenError) in
            do throws(TokenError) {
                let loaded = try await owner.store.load(passphrase: passphrase, into: LoadedCache.self)
                owner.cache = loaded.cache
                owner.interrupted = loaded.interrupted
                owner.opening = .done
                owner.reportOpening(unknown: loaded.unknown)
                await owner.write(repairsOf: loaded)
            } catch {
                await owner.store.forgetPassphrase()
                let error = owner.isWorthRetrying ? error.sayingThatItIsTriedAgain : error
                owner.opening = .failed(error, at: owner.options.now())
                owner.logNotices()
                owner.options.logger.error("the store is not open", metadata: ["reason": "\(error.message)"])
                throw error
            }
        }
        opening = .underWay(future)
        return future
    }

    /// Writes what this version keeps otherwise than the one that stored it. Begun before any request changes the cache, so that
    /// it does not undo what one of them writes; tried again later where nothing can be written now.
    private func write(repairsOf loaded: LoadedCache) async {
        guard let repairs = try? loaded.repairs(), !repairs.isEmpty else { return }
        options.logger.notice("records of an earlier version are rewritten", metadata: ["count": "\(repairs.count)"])
        try? await write(repairs)
    }

    /// What a request that needs the cache waits for; nil when there is nothing to wait for.
    var untilOpen: EventLoopFuture<Result<Void, TokenError>>? {
        switch opening {
        case .done: nil
        case .underWay(let future): future
        case .begun: loop.makeSucceededFuture(.failure(TokenError(.storeUnavailable, "the agent is starting")))
        case .failed(let error, let moment):
            if isWorthRetrying, abs(options.now() - moment) >= Self.retryInterval {
                open()
            } else {
                loop.makeSucceededFuture(.failure(error))
            }
        }
    }

    /// Whether another attempt may succeed without a person: a keyring or a passphrase needs one.
    private var isWorthRetrying: Bool {
        guard case .locked = store.report.phase else { return true }
        return store.report.keySource != .passphrase && store.report.keySource != .secretService
    }

    /// Seconds between attempts to open a store that cannot be opened.
    private static let retryInterval: Int64 = 5

    /// What a request that describes the store waits for: the load, but not for long, since a keyring may keep it waiting for
    /// a person. Nil when there is nothing to wait for.
    var loadingOrPatience: EventLoopFuture<Void>? {
        guard case .underWay(let loading) = opening else { return nil }
        let promise = loop.makePromise(of: Void.self)
        let patience = options.timers.schedule(loop, Self.loadingPatience) { promise.succeed() }
        loading.whenComplete { _ in
            patience.cancel()
            promise.succeed()
        }
        return promise.futureResult
    }

    /// Longer than most stores take to load, and shorter than somebody who asks for the status minds.
    private static let loadingPatience = TimeAmount.milliseconds(500)

    /// Logs what the store has found damaged since the last time.
    func logNotices() {
        let notices = store.report.notices
        for notice in notices.dropFirst(loggedNotices) { options.logger.error("\(notice)") }
        loggedNotices = notices.count
    }

    private func reportOpening(unknown: Int) {
        logNotices()
        if let error = store.report.unwritable {
            options.logger.error("the store cannot be written", metadata: ["reason": "\(error.message)"])
        }
        if unknown > 0 {
            options.logger.warning("records that cannot be read are left alone", metadata: ["count": "\(unknown)"])
        }
        if !interrupted.isEmpty {
            options.logger.warning(
                "no answer came to redemptions before the agent stopped; an account whose refresh token they used up has to sign in again",
                metadata: ["count": "\(interrupted.count)"])
        }
    }
}

extension TokenError {
    fileprivate var sayingThatItIsTriedAgain: TokenError {
        var error = self
        error.message += "; the agent tries again with the next request"
        return error
    }
}
