internal import CacheFormats
internal import NIOCore
internal import TokenModel

/// The imports and exports in progress: limited in number and size, and discarded if they are not continued in time or if the
/// connection that began them ends. No other connection can continue them.
struct TransferTable {
    /// An import whose parts are being received.
    struct Upload {
        /// The first request, which has the options of the import.
        var request: ImportCache
        var connection: ConnectionID
        var parts: [Secret] = []
        var size = 0
        /// Discards the import if no part arrives in time; nil once the last part has arrived.
        var expiry: Timers.Timer?

        /// Adds a part. It is joined to a small part before it, so that many small parts need little more memory than their bytes.
        mutating func add(_ part: Secret) {
            size += part.count
            guard let last = parts.last, last.count < Self.smallPart else { return parts.append(part) }
            parts[parts.count - 1] = Secret(bytes: last.withBytes(Array.init) + part.withBytes(Array.init))
        }

        private static let smallPart = 4096
    }

    /// An export whose parts are being sent. Only its next part is in memory.
    struct Download {
        var export: CacheExport
        var connection: ConnectionID
        /// The number of bytes sent.
        var sent = 0
        /// Discards the export if the next part is not requested in time; nil while a part is being encoded.
        var expiry: Timers.Timer?
    }

    /// The maximum size of all imports together, in bytes.
    private let importLimit: Int
    private var uploads: [String: Upload] = [:]
    private var downloads: [String: Download] = [:]

    init(importLimit: Int) { self.importLimit = importLimit }

    mutating func keep(_ upload: Upload, as id: String) { uploads[id] = upload }

    mutating func keep(_ download: Download, as id: String) { downloads[id] = download }

    /// Removes and returns an import that its connection continues; nil if this connection has no such import.
    mutating func removeUpload(_ id: String, from connection: ConnectionID) -> Upload? {
        guard let upload = uploads[id], upload.connection == connection, upload.expiry != nil else { return nil }
        discard(id)
        return upload
    }

    /// The content of an import that has been received completely. The table keeps its size until it is discarded, but not its
    /// bytes, whose memory is released as they are read.
    mutating func completeUpload(_ id: String) -> ForeignFile {
        let file = ForeignFile(uploads[id]?.parts ?? [])
        uploads[id]?.parts = []
        return file
    }

    /// Returns an export that its connection continues, and ends its time-out; nil if this connection has no such export.
    mutating func continueDownload(_ id: String, from connection: ConnectionID) -> Download? {
        guard var download = downloads[id], download.connection == connection, let expiry = download.expiry else {
            return nil
        }
        expiry.cancel()
        download.expiry = nil
        downloads[id] = download
        return download
    }

    /// Whether an export is in progress still.
    func containsDownload(_ id: String) -> Bool { downloads[id] != nil }

    mutating func discard(_ id: String) {
        uploads.removeValue(forKey: id)?.expiry?.cancel()
        downloads.removeValue(forKey: id)?.expiry?.cancel()
    }

    /// Discards the transfers of a connection that has ended, except imports that have been received completely.
    mutating func discardAll(of connection: ConnectionID) {
        for (id, upload) in uploads where upload.connection == connection && upload.expiry != nil { discard(id) }
        for (id, download) in downloads where download.connection == connection { discard(id) }
    }

    mutating func discardAll() {
        for id in Array(uploads.keys) + Array(downloads.keys) { discard(id) }
    }

    /// The error of one more transfer of a connection with this number of bytes; nil if it is within the limits.
    ///
    /// - Parameter others: the connections of the transfers in progress that are not in the table, one of each.
    func refusal(of more: Int, from connection: ConnectionID, besides others: some Sequence<ConnectionID>)
        -> TokenError?
    {
        guard uploads.values.reduce(more, { $0 + $1.size }) <= importLimit else {
            return TokenError(
                .frameTooLarge,
                "the imports under way come to more than \(importLimit >> 20) MiB; import smaller files, one after another"
            )
        }
        let connections = uploads.values.map(\.connection) + downloads.values.map(\.connection) + others
        guard connections.count < Self.limit else { return Self.tooMany(Self.limit, "imports and exports") }
        guard connections.count(where: { $0.isOfSamePeer(as: connection) }) < Self.peerLimit else {
            return Self.tooMany(Self.peerLimit, "imports and exports of this app")
        }
        return nil
    }

    private static func tooMany(_ limit: Int, _ transfers: String) -> TokenError {
        TokenError(
            .interactionInProgress, "\(limit) \(transfers) are under way already; wait for one of them", reason: .agent)
    }

    static let unknown = TokenError(
        .sessionCanceled,
        "there is no such import or export on this connection; it was finished, or not continued in time",
        reason: .request)

    /// The maximum number of transfers in progress.
    private static let limit = 8
    /// The maximum number of transfers of one peer: others can still begin one.
    private static let peerLimit = 4
    /// The time within which a transfer has to be continued.
    static let timeout = TimeAmount.seconds(60)
    /// The size of an export's parts, in bytes; well below the maximum size of a reply.
    static let partSize = 256 * 1024
}
