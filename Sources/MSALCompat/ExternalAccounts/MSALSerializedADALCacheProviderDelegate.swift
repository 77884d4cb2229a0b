public import Foundation

/// An app that keeps the archive of an ADAL cache itself: told before and after each use of the cache.
///
/// The usual app calls `deserialize(_:)` in the `will` methods and `serializeData()` in `didWriteCache(_:)`. The methods may
/// be called from any thread.
public protocol MSALSerializedADALCacheProviderDelegate: NSObjectProtocol {
    /// The cache is about to be read.
    func willAccessCache(_ cache: MSALSerializedADALCacheProvider)
    /// The cache has been read.
    func didAccessCache(_ cache: MSALSerializedADALCacheProvider)
    /// The cache is about to be changed.
    func willWriteCache(_ cache: MSALSerializedADALCacheProvider)
    /// The cache has been changed.
    func didWriteCache(_ cache: MSALSerializedADALCacheProvider)
}
