internal import AgentClient
public import Foundation
internal import TokenModel

/// An app's own archive of an ADAL cache, for MSAL to share: set it as `MSALCacheConfig.serializedADALCache`.
///
/// Here ADAL and MSAL share the agent's cache anyway. What the archive brings along goes into the sharing group of the
/// application, and what it takes away comes from there. Its methods block the calling thread until the agent answers; safe
/// to use from any thread.
///
/// Unchecked because apps' delegates are not `Sendable`, while MSAL has always called them from whatever thread used the
/// cache; nothing else here varies.
public final class MSALSerializedADALCacheProvider: NSObject, NSCopying, @unchecked Sendable {
    /// Who is told of the cache's use.
    public let delegate: any MSALSerializedADALCacheProviderDelegate
    private let archive: ArchivedCache

    /// A provider whose archive `delegate` keeps. It never throws here.
    public init(delegate: any MSALSerializedADALCacheProviderDelegate) throws {
        self.delegate = delegate
        archive = ArchivedCache(.shared, .standard)
    }

    /// A provider whose delegate does nothing, so that no archive is kept. For test doubles.
    public override init() {
        delegate = NoDelegate()
        archive = ArchivedCache(.shared, .standard)
    }

    private init(copying other: MSALSerializedADALCacheProvider) {
        delegate = other.delegate
        archive = other.archive
    }

    /// The sharing group's cache as an archive that ADAL 2.7 for macOS reads.
    ///
    /// It holds refresh tokens in the clear, other apps' too: keep it as you would keep passwords.
    ///
    /// - Throws: `MSALError.internal` (-50000) when the agent cannot be asked.
    public func serializeData() throws -> Data {
        do throws(TokenError) {
            return try archive.serialize().withBytes { Data($0) }
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// Takes in what an archive of ADAL for macOS holds. Nothing that the cache has is removed, or gives way to something
    /// older.
    ///
    /// - Throws: `MSALError.internal` (-50000) when it is no such archive, or of a later version.
    public func deserialize(_ serializedData: Data) throws {
        do throws(TokenError) {
            try archive.deserialize(Secret(bytes: serializedData))
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// A provider of the same archive with the same delegate.
    public func copy(with zone: NSZone? = nil) -> Any { MSALSerializedADALCacheProvider(copying: self) }

    /// Serves the agent and the sharing group of an application.
    func serve(_ client: AgentClient, _ group: SharingGroup) { archive.move(to: client, group) }

    /// Lets the delegate hand over what it has.
    func announceAccess() {
        delegate.willAccessCache(self)
        delegate.didAccessCache(self)
    }

    /// Lets the delegate fetch what is new.
    func announceWrite() {
        delegate.willWriteCache(self)
        delegate.didWriteCache(self)
    }
}

/// The delegate of a provider that was made without one.
private final class NoDelegate: NSObject, MSALSerializedADALCacheProviderDelegate {
    func willAccessCache(_ cache: MSALSerializedADALCacheProvider) {}
    func didAccessCache(_ cache: MSALSerializedADALCacheProvider) {}
    func willWriteCache(_ cache: MSALSerializedADALCacheProvider) {}
    func didWriteCache(_ cache: MSALSerializedADALCacheProvider) {}
}

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
