public import Foundation
internal import Synchronization

/// What holds for the whole process. May be used from any thread.
open class MSALGlobalConfig: NSObject {
    private static let http = MSALHTTPConfig()
    private static let telemetry = MSALTelemetryConfig()
    private static let logger = MSALLoggerConfig()
    private static let switches = Mutex(Switches())

    private struct Switches {
        var brokerAvailability = MSALBrokeredAvailability.auto
        var requestsBoundRefreshTokens = false
    }

    /// How long requests may take.
    open class var httpConfig: MSALHTTPConfig { http }

    /// Inert: kept and not used; nothing here reports telemetry.
    open class var telemetryConfig: MSALTelemetryConfig { telemetry }

    /// What is logged, and where to.
    open class var loggerConfig: MSALLoggerConfig { logger }

    /// Inert: kept and not used; Apple's broker is not here.
    open class var brokerAvailability: MSALBrokeredAvailability {
        get { switches.withLock { $0.brokerAvailability } }
        set { switches.withLock { $0.brokerAvailability = newValue } }
    }

    /// Inert: kept and not used; refresh tokens never leave the agent.
    open class var shouldRequestBoundAppRefreshTokens: Bool {
        get { switches.withLock { $0.requestsBoundRefreshTokens } }
        set { switches.withLock { $0.requestsBoundRefreshTokens = newValue } }
    }
}
