public import Foundation

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
