/// A record as the store keeps it; what the bytes mean is the cache's business.
package struct StoredRecord: Sendable, Equatable {
    package var key: RecordKey
    package var body: [UInt8]

    package init(key: RecordKey, body: [UInt8]) {
        self.key = key
        self.body = body
    }
}

extension StoredRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says only how long it is: the body may hold a token, and the key a name.
    package var description: String { "<record, \(body.count) bytes>" }
    /// The same as `description`.
    package var debugDescription: String { description }
    /// Shows nothing, so that `dump` of an enclosing value shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
