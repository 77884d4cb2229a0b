internal import Logging
internal import TokenModel
internal import TokenStore

/// Logs the problems of the store. Each notice of the store is logged once.
final class StoreLog {
    private let store: any RecordStore
    private let logger: Logger
    private var reportedNotices = 0

    init(store: any RecordStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Logs the notices of the store that are new since the last call.
    func reportNotices() {
        let notices = store.report.notices
        for notice in notices.dropFirst(reportedNotices) { logger.error("\(notice)") }
        reportedNotices = notices.count
    }

    func reportFailure(_ error: TokenError) {
        logger.error("the store cannot be written", metadata: ["reason": "\(error.message)"])
    }

    func reportLoss() { logger.error("the store has lost records; all of them are written again") }

    func reportLocked(_ error: TokenError) {
        logger.error("the store is not open", metadata: ["reason": "\(error.message)"])
    }

    /// Logs what was found while the store was loaded.
    func reportOpened(_ loaded: LoadedCache) {
        reportNotices()
        if store.report.isNew { logger.notice("there was no store to open; an empty one was created") }
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
