// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

public import Foundation
package import TokenModel

/// The result of a request: a token or an error.
public final class ADAuthenticationResult: NSObject {
    /// Whether there is a token, and if not, whether the sign-in was cancelled.
    public let status: ADAuthenticationResultStatus
    /// The token with its description; nil unless `status` is `AD_SUCCEEDED`.
    public let tokenCacheItem: ADTokenCacheItem?
    /// The reason why there is no token; nil if there is one.
    public let error: ADAuthenticationError?
    /// Whether the token endpoint has issued the token to this request, and the agent has a refresh token for several resources.
    public let multiResourceRefreshToken: Bool
    /// The correlation ID of the request, by which the identity provider finds it in its logs.
    public let correlationId: UUID?
    /// Whether the token has expired and was returned because of an outage of the server; `expiresOn` is then the end
    /// of its extended lifetime.
    public let extendedLifeTimeToken: Bool
    /// The authority that issued the token: that of the context, or the same tenant in another cloud to which the
    /// server redirected the user. Nil unless `status` is `AD_SUCCEEDED`.
    public var authority: String? { tokenCacheItem?.authority }
    /// The access token; nil unless `status` is `AD_SUCCEEDED`.
    public var accessToken: String? { tokenCacheItem?.accessToken }

    package init(_ token: TokenResult, for request: TokenAcquisition.Target) {
        status = AD_SUCCEEDED
        tokenCacheItem = ADTokenCacheItem(token, for: request)
        error = nil
        multiResourceRefreshToken =
            token.hasMultiResourceRefreshToken && !token.isFromCache && !token.isExtendedLifetime
        correlationId = token.correlationID.uuid
        extendedLifeTimeToken = token.isExtendedLifetime
    }

    package init(_ error: ADAuthenticationError, correlationID: CorrelationID) {
        status = error.isCancellation ? AD_USER_CANCELLED : AD_FAILED
        tokenCacheItem = nil
        self.error = error
        multiResourceRefreshToken = false
        correlationId = correlationID.uuid
        extendedLifeTimeToken = false
    }

    /// All values in ADAL's layout, for logs; never a token. `(null)` stands for nil.
    public override var description: String {
        "(error=\(error?.description ?? "(null)"), mrrt=\(multiResourceRefreshToken ? "YES" : "NO"), "
            + "status=\(status.name), item=\(tokenCacheItem?.description ?? "(null)"), "
            + "correlationId=\(correlationId?.uuidString ?? "(null)"), authority=\(authority ?? "(null)"))"
    }
}

/// Called with the result of a request.
public typealias ADAuthenticationCallback = (ADAuthenticationResult) -> Void

/// How a request ended.
public struct ADAuthenticationResultStatus: Hashable, RawRepresentable, Sendable {
    /// The number in the C enumeration.
    public var rawValue: UInt32

    /// Creates the value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

extension ADAuthenticationResultStatus {
    /// The name of the constant; the number if it has none.
    fileprivate var name: String {
        switch self {
        case AD_SUCCEEDED: "AD_SUCCEEDED"
        case AD_USER_CANCELLED: "AD_USER_CANCELLED"
        case AD_FAILED: "AD_FAILED"
        default: String(rawValue)
        }
    }
}

/// There is an access token.
public var AD_SUCCEEDED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(0) }

/// The sign-in was cancelled by the user or the app; the code of the error is `ERROR_UI_USER_CANCEL` (403).
public var AD_USER_CANCELLED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(1) }

/// There is an error.
public var AD_FAILED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(2) }
