public import struct Foundation.UUID

/// One user-visible operation, carried through app, agent and token endpoint so that their logs can be joined.
public struct CorrelationID: Sendable, Hashable, CustomStringConvertible {
    /// The identifier, sent as `client-request-id`.
    public let uuid: UUID

    /// Wraps the app's own identifier, or makes a fresh one.
    public init(_ uuid: UUID = UUID()) {
        self.uuid = uuid
    }

    /// Nil unless `text` is a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(text: text) else { return nil }
        self.uuid = uuid
    }

    /// The UUID in lower case.
    public var description: String { uuid.lowercaseText }
}
