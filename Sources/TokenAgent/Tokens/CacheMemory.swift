internal import TokenCache
internal import TokenModel

/// The cache that requests are answered from. Changes are applied to it here and nowhere else.
///
/// Used on the actor of `CacheOwner` only.
final class CacheMemory {
    /// Empty until the store has been loaded.
    private(set) var cache = CredentialCache()
    /// How often the cache has changed. What was worked out from a copy beside the event loop is out of date once this has
    /// moved on.
    private(set) var changeCount = 0

    /// Makes changes visible to every request from now on.
    func apply(_ changes: [CacheChange], in group: SharingGroup) {
        guard !changes.isEmpty else { return }
        cache.apply(changes, in: group)
        changeCount += 1
    }

    /// Takes a cache in the place of the present one: what the store held, or the present one with an import in it.
    func replace(with cache: CredentialCache) {
        self.cache = cache
        changeCount += 1
    }

    /// Learns the names of clouds.
    ///
    /// - Returns: whether anything about them was new.
    func learn(_ clouds: [CloudDirectory.Cloud], from environment: String) -> Bool {
        guard cache.clouds.learn(clouds, from: environment) else { return false }
        changeCount += 1
        return true
    }
}
