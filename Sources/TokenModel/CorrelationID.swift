#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One user-visible operation, carried through app, agent and token endpoint so that their logs can be joined.
public struct CorrelationID: Sendable, Hashable, CustomStringConvertible {
    /// The identifier, sent as `client-request-id`.
    public let uuid: UUID

    /// Wraps the app's own identifier.
    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    /// Makes a fresh one.
    public init() {
        self.uuid = .random()
    }

    /// Nil unless `text` is a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(text: text) else { return nil }
        self.uuid = uuid
    }

    /// The UUID in lower case.
    public var description: String { uuid.lowercaseText }
}
