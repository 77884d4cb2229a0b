// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

public import Foundation
package import TokenModel

/// How an acquisition ended: with a token, or with an error.
public final class ADAuthenticationResult: NSObject {
    /// Whether there is a token; when not, whether the sign-in was given up.
    public let status: ADAuthenticationResultStatus
    /// The token and what it is for; nil unless `status` is `AD_SUCCEEDED`.
    public let tokenCacheItem: ADTokenCacheItem?
    /// Why there is no token; nil when there is one.
    public let error: ADAuthenticationError?
    /// Whether the token was just redeemed, and the agent holds a refresh token that serves other resources too.
    public let multiResourceRefreshToken: Bool
    /// The operation, to quote to the people who run the server.
    public let correlationId: UUID?
    /// Whether the token has expired and was returned because the server is down; `expiresOn` is then the later date.
    public let extendedLifeTimeToken: Bool
    /// The authority the token came from: the context's, or the instance of another cloud that it sent the person to.
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
}

/// What is told how an acquisition ended.
public typealias ADAuthenticationCallback = (ADAuthenticationResult) -> Void

/// How an acquisition ended.
public struct ADAuthenticationResultStatus: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// There is an access token.
public var AD_SUCCEEDED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(0) }

/// The person, or the app, gave the sign-in up; the error's code is `ERROR_UI_USER_CANCEL` (403).
public var AD_USER_CANCELLED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(1) }

/// There is an error.
public var AD_FAILED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(2) }
