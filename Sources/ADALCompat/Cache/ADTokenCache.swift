package import AgentClient
public import Foundation
internal import TokenModel

/// The default sharing group of the agent's cache, as ADAL for macOS shows its own.
///
/// It holds nothing itself: all caches of the process are views of one. Its methods block the calling thread until the agent
/// answers; safe to use from any thread.
///
/// Unchecked because apps' delegates are not `Sendable`, while ADAL has always called them from whatever thread used the
/// cache; what varies is behind the lock.
public final class ADTokenCache: NSObject, @unchecked Sendable {
    private static let shared = ADTokenCache()

    private let lock = NSLock()
    private var currentDelegate: (any ADTokenCacheDelegate)?
    private let archive: ArchivedCache
    /// Whom requests go to; tests put an agent of their own here.
    let agent: AgentClient

    /// A view of the default sharing group.
    public override convenience init() {
        self.init(agent: .shared)
    }

    package init(agent: AgentClient) {
        self.agent = agent
        archive = ArchivedCache(agent, ADAuthenticationSettings.sharedInstance().sharingGroup)
    }

    /// The cache of contexts that name none.
    public class func `default`() -> ADTokenCache { shared }

    /// Sets who is told of the cache's use, and tells it at once that the cache is read, so that it can hand over what it has.
    ///
    /// What the cache holds stays: it belongs to other apps too.
    public func setDelegate(_ delegate: (any ADTokenCacheDelegate)?) {
        let isNews = lock.withLock {
            guard currentDelegate !== delegate else { return false }
            currentDelegate = delegate
            return true
        }
        if isNews { announceAccess() }
    }

    var delegate: (any ADTokenCacheDelegate)? { lock.withLock { currentDelegate } }

    /// The sharing group's cache as an archive that ADAL 2.7 for macOS reads; nil when the agent cannot be asked.
    ///
    /// It holds refresh tokens in the clear, other apps' too: keep it as you would keep passwords.
    public func serialize() -> Data? {
        try? archive.serialize().withBytes { Data($0) }
    }

    /// Takes in what an archive of ADAL for macOS, 1.x to 2.7, holds. Nothing that the cache has is removed, or gives way to
    /// something older; `nil` changes nothing.
    ///
    /// False, and the error `ERROR_CACHE_BAD_FORMAT` (302), when it is no such archive, or of a later version than
    /// `CURRENT_WRAPPER_CACHE_VERSION`; the cache is then as it was.
    @discardableResult
    public func deserialize(
        _ data: Data?, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        guard let data else { return true }
        let done: Void? = ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in
            do throws(TokenError) {
                try archive.deserialize(Secret(bytes: data))
            } catch {
                throw ADAuthenticationError(error)
            }
        }
        return done != nil
    }

    /// Lets the delegate hand over what it has.
    func announceAccess() {
        guard let delegate else { return }
        delegate.willAccessCache(self)
        delegate.didAccessCache(self)
    }

    /// Lets the delegate fetch what is new.
    func announceWrite() {
        guard let delegate else { return }
        delegate.willWrite(self)
        delegate.didWrite(self)
    }

    /// What the group holds, and the ways to remove it.
    var items: CachedItems { CachedItems(agent: agent, group: ADAuthenticationSettings.sharedInstance().sharingGroup) }
}

/// What the cache holds, and signing out, as `ADKeychainTokenCache` has it. Each method that removes returns whether it was
/// done, also when there was nothing to do; when not, `error` says why.
extension ADTokenCache {
    /// Every item of the sharing group, whichever app it belongs to; empty when there is none, nil when the agent cannot say.
    public func allItems(_ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) -> [ADTokenCacheItem]? {
        let delegate = delegate
        delegate?.willAccessCache(self)
        defer { delegate?.didAccessCache(self) }
        return ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in try items.allReported() }
    }

    /// Removes one item; other items of the same person stay.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the item has no authority or no client ID.
    @discardableResult
    public func remove(
        _ item: ADTokenCacheItem, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        write(error) { () throws(ADAuthenticationError) in try items.remove(item) }
    }

    /// Signs everyone out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the client ID is blank.
    @discardableResult
    public func removeAll(
        forClientId clientId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        write(error) { () throws(ADAuthenticationError) in try items.removeAll(clientID: clientId) }
    }

    /// Signs one person out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the name or the client ID is blank.
    @discardableResult
    public func removeAll(
        forUserId userId: String, clientId: String,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        write(error) { () throws(ADAuthenticationError) in try items.removeAll(userID: userId, clientID: clientId) }
    }

    /// Signs one person out of every app of the group, those that use MSAL too.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the name is blank.
    @discardableResult
    public func wipeAllItems(
        forUserId userId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        write(error) { () throws(ADAuthenticationError) in try items.wipe(userID: userId) }
    }

    private func write(
        _ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?,
        _ work: () throws(ADAuthenticationError) -> Void
    ) -> Bool {
        let delegate = delegate
        delegate?.willWrite(self)
        defer { delegate?.didWrite(self) }
        return ADAuthenticationError.report(error, work) != nil
    }
}

/// An app that keeps a cache's archive itself: told before and after each use of the cache.
///
/// The usual app calls `deserialize(_:error:)` in the `will` methods and `serialize()` in `didWrite(_:)`. The methods may
/// be called from any thread, never while the cache holds a lock.
public protocol ADTokenCacheDelegate: NSObjectProtocol {
    /// The cache is about to be read.
    func willAccessCache(_ cache: ADTokenCache)
    /// The cache has been read.
    func didAccessCache(_ cache: ADTokenCache)
    /// The cache is about to be changed.
    func willWrite(_ cache: ADTokenCache)
    /// The cache has been changed.
    func didWrite(_ cache: ADTokenCache)
}

/// The format of the archives that `ADTokenCache` reads and writes; newer ones are refused.
public let CURRENT_WRAPPER_CACHE_VERSION: Double = 1.0
