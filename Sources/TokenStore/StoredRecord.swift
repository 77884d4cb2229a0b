/// A record as the store keeps it; what the bytes mean is the cache's business.
package struct StoredRecord: Sendable, Equatable {
    package var key: RecordKey
    package var body: [UInt8]

    package init(key: RecordKey, body: [UInt8]) {
        self.key = key
        self.body = body
    }
}
