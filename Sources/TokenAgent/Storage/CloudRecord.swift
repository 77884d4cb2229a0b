internal import TokenCache
internal import TokenModel
internal import TokenStore

/// A cloud that instance discovery has named, as the store keeps it: cached tokens need no discovery after the next start.
struct CloudRecord {
    let cloud: CloudDirectory.Cloud

    private struct Body: Codable {
        var cloud: CloudDirectory.Cloud
        /// The host that named the cloud, always one of Microsoft's.
        var attestedBy: String

        enum CodingKeys: String, CodingKey {
            case cloud
            case attestedBy = "attested_by"
        }
    }

    init(_ cloud: CloudDirectory.Cloud) { self.cloud = cloud }

    /// Returns nil unless the record says that a Microsoft cloud has named this one: earlier versions also stored what a
    /// provider on this machine claimed.
    init?(_ record: StoredRecord) {
        guard let body = CacheJSON.decode(Body.self, record.body),
            CloudDirectory.isBuiltIn(body.attestedBy)
        else { return nil }
        cloud = body.cloud
    }

    /// The record; nil if it cannot be encoded.
    var stored: StoredRecord? {
        let body = Body(cloud: cloud, attestedBy: CloudDirectory.attesting)
        guard let bytes = try? CacheJSON.encode(body) else { return nil }
        return StoredRecord(
            key: RecordKey(group: "", kind: .cloud, key: cloud.preferredCache), body: bytes, account: .everyAccount)
    }
}
