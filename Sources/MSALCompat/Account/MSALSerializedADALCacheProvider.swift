internal import AgentClient
internal import CompatSupport
public import Foundation
internal import TokenModel

// Unchecked because delegates of apps are not `Sendable`, while MSAL calls them from the thread that uses the cache; the
// other properties are constants of Sendable types.
/// Imports and exports an archive of an ADAL cache that the app keeps itself: set it as
/// `MSALCacheConfig.serializedADALCache`.
///
/// ADAL and MSAL share the agent's cache without it. An archive is imported into the application's sharing group and
/// exported from it. The methods block the calling thread until the agent has answered; they may be called from any
/// thread.
public final class MSALSerializedADALCacheProvider: NSObject, NSCopying, @unchecked Sendable {
    /// The delegate, which is notified of the use of the cache. The reference is strong.
    public let delegate: any MSALSerializedADALCacheProviderDelegate
    private let archive: ArchivedCache

    /// Creates a provider for the archive that `delegate` keeps. Never throws here.
    public init(delegate: any MSALSerializedADALCacheProviderDelegate) throws {
        self.delegate = delegate
        archive = ArchivedCache(.shared, .standard)
    }

    /// Creates a provider with a delegate that does nothing, for test doubles.
    public override init() {
        delegate = NoDelegate()
        archive = ArchivedCache(.shared, .standard)
    }

    private init(copying other: MSALSerializedADALCacheProvider) {
        delegate = other.delegate
        archive = other.archive
    }

    /// Exports the sharing group's cache as an archive that ADAL 2.7 for macOS reads.
    ///
    /// The archive holds refresh tokens in clear text, also those of other apps: store it as you would store passwords.
    ///
    /// - Throws: `MSALError.internal` (-50000) if the agent refuses the export, as it does to a process without a terminal until a
    ///   rule of the access policy allows it (on a terminal, the user has to confirm it), or does not answer. The `TokenError` is
    ///   under `NSUnderlyingErrorKey`.
    public func serializeData() throws -> Data {
        do throws(TokenError) {
            return try archive.serialize().withBytes { Data($0) }
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// Imports an archive of ADAL for macOS. No entry of the cache is removed or replaced by an older one.
    ///
    /// - Throws: `MSALError.internal` (-50000) if it is not such an archive, or of a later version, and nothing is imported
    ///   then; or if the agent does not answer.
    public func deserialize(_ serializedData: Data) throws {
        do throws(TokenError) {
            try archive.deserialize(Secret(bytes: serializedData))
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// Returns a provider of the same archive with the same delegate.
    public func copy(with zone: NSZone? = nil) -> Any { MSALSerializedADALCacheProvider(copying: self) }

    /// Uses the agent and the sharing group of an application from now on.
    func use(_ client: AgentClient, _ group: SharingGroup) { archive.move(to: client, group) }

    /// Notifies the delegate of a read access, so that it can import its archive.
    func announceAccess() {
        delegate.willAccessCache(self)
        delegate.didAccessCache(self)
    }

    /// Notifies the delegate of a change that a request has made, so that it can export the archive.
    func announceWrite() {
        announceWillWrite()
        announceDidWrite()
    }

    /// Notifies the delegate before a removal: an archive that was imported after it would bring the account back.
    func announceWillWrite() { delegate.willWriteCache(self) }

    /// Notifies the delegate after a removal, so that it can export the archive.
    func announceDidWrite() { delegate.didWriteCache(self) }
}

/// The delegate of a provider that is created without one.
private final class NoDelegate: NSObject, MSALSerializedADALCacheProviderDelegate {
    func willAccessCache(_ cache: MSALSerializedADALCacheProvider) {}
    func didAccessCache(_ cache: MSALSerializedADALCacheProvider) {}
    func willWriteCache(_ cache: MSALSerializedADALCacheProvider) {}
    func didWriteCache(_ cache: MSALSerializedADALCacheProvider) {}
}

/// Notified before and after each use of the cache, by an app that keeps the archive of an ADAL cache itself.
///
/// An app usually calls `deserialize(_:)` in the `will` methods and `serializeData()` in `didWriteCache(_:)`. The
/// methods may be called from any thread.
public protocol MSALSerializedADALCacheProviderDelegate: NSObjectProtocol {
    /// The cache is about to be read.
    func willAccessCache(_ cache: MSALSerializedADALCacheProvider)
    /// The cache has been read.
    func didAccessCache(_ cache: MSALSerializedADALCacheProvider)
    /// The cache is about to be changed by a removal, or has just been changed by a request for a token.
    func willWriteCache(_ cache: MSALSerializedADALCacheProvider)
    /// The cache has been changed.
    func didWriteCache(_ cache: MSALSerializedADALCacheProvider)
}
