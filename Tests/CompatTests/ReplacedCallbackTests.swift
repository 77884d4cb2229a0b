internal import AgentClient
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import ADALCompat
@testable internal import MSALCompat

/// Closures and delegates of apps that use the library when they are released, which happens when they are replaced.
///
/// In processes of their own: the settings are those of a process, which ends if it locks them twice.
@Suite(.bounded) struct ReplacedCallbackTests {
    /// The number of objects of this process that have been released.
    private static let released = Mutex(0)

    /// Calls a closure when it is released.
    private final class Owner: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit {
            end()
            ReplacedCallbackTests.released.withLock { $0 += 1 }
        }
    }

    /// Does nothing until it is released.
    private final class Delegate: NSObject, ADTokenCacheDelegate {
        private let cache: ADTokenCache

        init(_ cache: ADTokenCache) { self.cache = cache }

        deinit {
            cache.setDelegate(nil)
            ReplacedCallbackTests.released.withLock { $0 += 1 }
        }

        func willAccessCache(_ cache: ADTokenCache) {}
        func didAccessCache(_ cache: ADTokenCache) {}
        func willWrite(_ cache: ADTokenCache) {}
        func didWrite(_ cache: ADTokenCache) {}
    }

    private static func setLogCallback() {
        let owner = Owner { ADLogger.setLoggerCallback(nil) }
        ADLogger.setLoggerCallback { _, _, _ in withExtendedLifetime(owner) {} }
    }

    private static func setTelemetryCallback() {
        let owner = Owner { MSALGlobalConfig.telemetryConfig.telemetryCallback = nil }
        MSALGlobalConfig.telemetryConfig.telemetryCallback = { _ in withExtendedLifetime(owner) {} }
    }

    @Test func releasesALogCallbackThatUsesTheLog() async {
        await #expect(processExitsWith: .success) {
            ReplacedCallbackTests.setLogCallback()
            ADLogger.setLoggerCallback { _, _, _ in }
            #expect(ReplacedCallbackTests.released.withLock { $0 } == 1)
        }
    }

    @Test func releasesATelemetryCallbackThatUsesTheSettings() async {
        await #expect(processExitsWith: .success) {
            ReplacedCallbackTests.setTelemetryCallback()
            MSALGlobalConfig.telemetryConfig.telemetryCallback = { _ in }
            #expect(ReplacedCallbackTests.released.withLock { $0 } == 1)
        }
    }

    @Test func releasesADelegateThatUsesTheCache() async {
        await #expect(processExitsWith: .success) {
            let cache = ADTokenCache(agent: AgentClient(socketPath: "/nonexistent/agent.sock"))
            cache.setDelegate(Delegate(cache))
            cache.setDelegate(nil)
            #expect(ReplacedCallbackTests.released.withLock { $0 } == 1)
        }
    }
}
