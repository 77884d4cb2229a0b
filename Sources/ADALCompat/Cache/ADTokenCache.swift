package import AgentClient
internal import CompatSupport
public import Foundation
internal import TokenModel

// Unchecked because delegates of apps are not `Sendable`, while ADAL calls them from the thread that uses the cache; the
// mutable state is behind a lock.
/// Shows the default sharing group of the agent's cache, and imports and exports the archive that ADAL for macOS keeps
/// of it.
///
/// It holds no tokens itself: all objects of the process show the same items. Its methods block the calling thread
/// until the agent has answered, and fail if it has not after 90 seconds, `serialize()` and `deserialize(_:error:)` after
/// 15 minutes; they may be called from any thread.
///
/// A method that removes returns true if it succeeded, also if there was nothing to remove. Otherwise `error` has the reason:
/// `ERROR_UNEXPECTED` (-1), with the `TokenError` under `NSUnderlyingErrorKey`, if the agent does not answer or refuses.
public final class ADTokenCache: NSObject, @unchecked Sendable {
    private static let shared = ADTokenCache()

    private let lock = NSLock()
    private var currentDelegate: (any ADTokenCacheDelegate)?
    private let heldArchive: ArchivedCache
    /// The client that sends the requests.
    let agent: AgentClient

    /// Creates a view of the default sharing group.
    public override convenience init() {
        self.init(agent: .shared)
    }

    package init(agent: AgentClient) {
        self.agent = agent
        heldArchive = ArchivedCache(agent, ADAuthenticationSettings.sharedInstance().sharingGroup)
    }

    /// The cache of contexts that are created without one.
    public class func `default`() -> ADTokenCache { shared }

    /// Sets the delegate, which the cache keeps by a strong reference. A new one is notified at once of a read access, so that
    /// it can import its archive.
    ///
    /// The items of the cache stay: they belong to other apps too.
    public func setDelegate(_ delegate: (any ADTokenCacheDelegate)?) {
        // The former delegate is released without the lock, since it may use the cache when it is released.
        let former = lock.withLock {
            defer { currentDelegate = delegate }
            return currentDelegate
        }
        if former !== delegate { announceAccess() }
    }

    var delegate: (any ADTokenCacheDelegate)? { lock.withLock { currentDelegate } }

    /// Exports the sharing group's cache as an archive that ADAL 2.7 for macOS reads.
    ///
    /// Returns nil if the agent refuses the export, as it does to a process without a terminal until a rule of the access policy
    /// allows it (on a terminal, the user has to confirm it), or does not answer.
    ///
    /// The archive holds refresh tokens in clear text, also those of other apps: store it as you would store passwords.
    public func serialize() -> Data? {
        try? archive.serialize().withBytes { Data($0) }
    }

    /// Imports an archive of ADAL for macOS, 1.x to 2.7. No item of the cache is removed or replaced by an older one;
    /// nil changes nothing.
    ///
    /// Returns false with an error: `ERROR_CACHE_BAD_FORMAT` (302) if `data` is not such an archive, or of a later version
    /// than `CURRENT_WRAPPER_CACHE_VERSION`, and the cache is then unchanged; `ERROR_UNEXPECTED` (-1) if the agent does not
    /// answer.
    @discardableResult
    public func deserialize(_ data: Data?, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) -> Bool {
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

    /// Notifies the delegate of a read access, so that it can import its archive.
    func announceAccess() {
        guard let delegate else { return }
        delegate.willAccessCache(self)
        delegate.didAccessCache(self)
    }

    /// Notifies the delegate of a change, so that it can export the archive.
    func announceWrite() {
        guard let delegate else { return }
        delegate.willWrite(self)
        delegate.didWrite(self)
    }

    /// The archive of the default sharing group, as it is set now.
    private var archive: ArchivedCache {
        heldArchive.move(to: agent, ADAuthenticationSettings.sharedInstance().sharingGroup)
        return heldArchive
    }

    /// The items of the sharing group.
    var items: CachedItems { CachedItems(agent: agent, group: ADAuthenticationSettings.sharedInstance().sharingGroup) }
}

/// Lists the items of the group and signs users out.
extension ADTokenCache {
    /// Lists every item of the sharing group, of every app; empty if there is none, nil with an error if the agent does not
    /// answer.
    public func allItems(_ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) -> [ADTokenCacheItem]? {
        let delegate = delegate
        delegate?.willAccessCache(self)
        defer { delegate?.didAccessCache(self) }
        return ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in try items.all() }
    }

    /// Removes one item; other items of the same user stay.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if the item has no authority or no client ID.
    @discardableResult
    public func remove(
        _ item: ADTokenCacheItem, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        write(error) { () throws(ADAuthenticationError) in try items.remove(item) }
    }

    /// Signs every account out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if the client ID is blank.
    @discardableResult
    public func removeAll(
        forClientId clientId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        write(error) { () throws(ADAuthenticationError) in try items.removeAll(clientID: clientId) }
    }

    /// Signs one user out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if the username or the client ID is blank.
    @discardableResult
    public func removeAll(
        forUserId userId: String, clientId: String,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        write(error) { () throws(ADAuthenticationError) in try items.removeAll(userID: userId, clientID: clientId) }
    }

    /// Signs one user out of every app of the group, of ADAL and of MSAL.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if the username is blank.
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

/// Notified before and after each use of the cache, by an app that keeps the cache's archive itself.
///
/// An app usually calls `deserialize(_:error:)` in the `will` methods and `serialize()` in `didWrite(_:)`. The methods
/// may be called from any thread; the cache holds no lock then.
public protocol ADTokenCacheDelegate: NSObjectProtocol {
    /// The cache is about to be read.
    func willAccessCache(_ cache: ADTokenCache)
    /// The cache has been read.
    func didAccessCache(_ cache: ADTokenCache)
    /// The cache is about to be changed by a removal, or has just been changed by a request for a token.
    func willWrite(_ cache: ADTokenCache)
    /// The cache has been changed.
    func didWrite(_ cache: ADTokenCache)
}

/// The version of the archives that `ADTokenCache` reads and writes; later versions are rejected.
public let CURRENT_WRAPPER_CACHE_VERSION: Double = 1.0
