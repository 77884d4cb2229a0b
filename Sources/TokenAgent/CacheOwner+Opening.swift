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
    /// Nothing can be served from the cache; the error says what to do.
    case failed(TokenError)
}

extension CacheOwner {
    /// Loads the store beside everything else; a second call joins the first.
    func open(passphrase: Secret? = nil) -> EventLoopFuture<Result<Void, TokenError>> {
        switch opening {
        case .underWay(let future): return future
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
            } catch {
                owner.opening = .failed(error)
                owner.options.logger.error("the store is not open", metadata: ["reason": "\(error.message)"])
                throw error
            }
        }
        opening = .underWay(future)
        return future
    }

    /// What a request that needs the cache waits for; nil when there is nothing to wait for.
    var untilOpen: EventLoopFuture<Result<Void, TokenError>>? {
        switch opening {
        case .done: nil
        case .underWay(let future): future
        case .begun: loop.makeSucceededFuture(.failure(TokenError(.storeUnavailable, "the agent is starting")))
        case .failed(let error): loop.makeSucceededFuture(.failure(error))
        }
    }

    /// What a request that describes the store waits for: the load, but not for long, since a keyring may keep it waiting for
    /// a person. Nil when there is nothing to wait for.
    var loadingOrPatience: EventLoopFuture<Void>? {
        guard case .underWay(let loading) = opening else { return nil }
        let promise = loop.makePromise(of: Void.self)
        let patience = loop.scheduleTask(in: Self.loadingPatience) { promise.succeed() }
        loading.whenComplete { _ in
            patience.cancel()
            promise.succeed()
        }
        return promise.futureResult
    }

    /// Longer than most stores take to load, and shorter than somebody who asks for the status minds.
    private static let loadingPatience = TimeAmount.milliseconds(500)

    private func reportOpening(unknown: Int) {
        for notice in store.report.notices { options.logger.error("\(notice)") }
        if let error = store.report.unwritable {
            options.logger.error("the store cannot be written", metadata: ["reason": "\(error.message)"])
        }
        if unknown > 0 {
            options.logger.warning("records that cannot be read are left alone", metadata: ["count": "\(unknown)"])
        }
        if !interrupted.isEmpty {
            options.logger.warning(
                "redemptions were under way when the agent stopped; whoever's answer was lost has to sign in again",
                metadata: ["count": "\(interrupted.count)"])
        }
    }
}
