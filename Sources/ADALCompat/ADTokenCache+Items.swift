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
