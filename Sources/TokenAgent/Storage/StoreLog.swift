internal import Logging
internal import TokenModel
internal import TokenStore

/// Logs the problems of the store. Each notice of the store is logged once. The number of messages that an app can cause again and again,
/// with changes or with attempts to unlock the store, is limited.
///
/// Used on the actor of `CacheOwner` only.
final class StoreLog {
    private let store: any RecordStore
    private let logger: Logger
    private let writeFailures: MessageLimit
    private let loadFailures: MessageLimit
    private var reportedNotices = 0
    private var hasReportedCreation = false

    /// - Parameter now: the time, in seconds.
    init(store: any RecordStore, logger: Logger, now: @escaping @Sendable () -> Int64) {
        self.store = store
        self.logger = logger
        writeFailures = MessageLimit(logger: logger, now: now)
        loadFailures = MessageLimit(logger: logger, now: now)
    }

    /// Logs the notices of the store that are new since the last call.
    func reportNotices() {
        let notices = store.report.notices
        for notice in notices.dropFirst(reportedNotices) { logger.error("\(notice)") }
        reportedNotices = notices.count
    }

    func reportFailure(_ error: TokenError) {
        guard writeFailures.admitsMessage() else { return }
        logger.error("the store cannot be written", metadata: ["reason": "\(error.message)"])
    }

    func reportLoss() { logger.error("the store has lost records; all of them are written again") }

    func reportLocked(_ error: TokenError) {
        guard loadFailures.admitsMessage() else { return }
        logger.error("the store is not open", metadata: ["reason": "\(error.message)"])
    }

    /// Logs what was found while the store was loaded.
    func reportOpened(_ loaded: LoadedCache) {
        reportNotices()
        // Not again when it is unlocked.
        if store.report.isNew, !hasReportedCreation {
            hasReportedCreation = true
            logger.notice("there was no store to open; an empty one was created")
        }
        if let error = store.report.writeError { reportFailure(error) }
        if loaded.unknown > 0 {
            logger.warning("records that cannot be read are left alone", metadata: ["count": "\(loaded.unknown)"])
        }
        if loaded.droppedClouds > 0 {
            logger.warning(
                "host names of clouds that no Microsoft cloud has attested are dropped",
                metadata: ["count": "\(loaded.droppedClouds)"])
        }
        if loaded.unboundTokens > 0 {
            logger.warning(
                "refresh tokens are not used, since it is not certain who issued them; their accounts have to sign in again",
                metadata: ["count": "\(loaded.unboundTokens)"])
        }
        if !loaded.interrupted.isEmpty {
            logger.warning(
                "no answer came to redemptions before the agent stopped; an account whose refresh token they used up has to sign in again",
                metadata: ["count": "\(loaded.interrupted.count)"])
        }
    }
}
