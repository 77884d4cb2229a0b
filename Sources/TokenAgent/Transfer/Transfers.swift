internal import CacheFormats
internal import NIOCore
internal import TokenCache
internal import TokenModel

/// Caches of other libraries on their way in or out: bounded in number and size, forgotten when nobody goes on, and gone
/// with the session that began them. Nobody else's session can go on with them.
struct Transfers {
    /// A cache that is still coming in.
    struct Upload {
        /// The first part, which says what to do with the whole.
        var request: ImportCache
        var session: SessionID
        var parts: [Secret] = []
        var size = 0
        /// Nil once the last part is there: from then on nobody has to go on with it.
        var expiry: Timers.Timer?

        /// Adds a part; to a small one before it, so that many small ones take no more memory than their bytes.
        mutating func add(_ part: Secret) {
            size += part.count
            guard let last = parts.last, last.count < Self.smallPart else { return parts.append(part) }
            parts[parts.count - 1] = Secret(bytes: last.withBytes(Array.init) + part.withBytes(Array.init))
        }

        private static let smallPart = 4096
    }

    /// A cache that is still going out. Only its next part is in memory.
    struct Download {
        var export: CacheExport
        var session: SessionID
        /// How many bytes have gone out.
        var sent = 0
        /// Nil while the next part is being made: until then nobody has to go on with it.
        var expiry: Timers.Timer?
    }

    /// How many bytes all imports together may come to.
    private let importLimit: Int
    private var uploads: [String: Upload] = [:]
    private var downloads: [String: Download] = [:]

    init(importLimit: Int) { self.importLimit = importLimit }

    mutating func keep(_ upload: Upload, as id: String) { uploads[id] = upload }

    mutating func keep(_ download: Download, as id: String) { downloads[id] = download }

    /// Lets go of a transfer that its session goes on with; nil when that is not so.
    mutating func takeUpload(_ id: String, from session: SessionID) -> Upload? {
        guard let upload = uploads[id], upload.session == session, upload.expiry != nil else { return nil }
        forget(id)
        return upload
    }

    /// Hands over a cache that has wholly come in. Its size counts until it is forgotten; its bytes are let go of as they are read.
    mutating func handOver(_ id: String) -> ForeignFile {
        let file = ForeignFile(uploads[id]?.parts ?? [])
        uploads[id]?.parts = []
        return file
    }

    /// An export that its session goes on with, whose next part is to be made; nil when that is not so.
    mutating func continueDownload(_ id: String, from session: SessionID) -> Download? {
        guard var download = downloads[id], download.session == session, let expiry = download.expiry else {
            return nil
        }
        expiry.cancel()
        download.expiry = nil
        downloads[id] = download
        return download
    }

    /// Whether an export has not been forgotten while its next part was made.
    func isKept(_ id: String) -> Bool { downloads[id] != nil }

    mutating func forget(_ id: String) {
        uploads.removeValue(forKey: id)?.expiry?.cancel()
        downloads.removeValue(forKey: id)?.expiry?.cancel()
    }

    /// Forgets what a session cannot go on with any more. What is wholly there is taken in all the same.
    mutating func forgetAll(of session: SessionID) {
        for (id, upload) in uploads where upload.session == session && upload.expiry != nil { forget(id) }
        for (id, download) in downloads where download.session == session { forget(id) }
    }

    mutating func forgetAll() {
        for id in Array(uploads.keys) + Array(downloads.keys) { forget(id) }
    }

    /// Why a transfer of this size cannot go on now, if that is so.
    func refusal(of more: Int) -> TokenError? {
        guard uploads.values.reduce(more, { $0 + $1.size }) <= importLimit else {
            return TokenError(.frameTooLarge, "imports under way come to more than \(importLimit >> 20) MiB")
        }
        guard uploads.count + downloads.count < Self.limit else {
            return TokenError(
                .interactionInProgress, "\(Self.limit) imports and exports are under way already; wait for one of them")
        }
        return nil
    }

    static let unknown = TokenError(
        .sessionCanceled,
        "there is no such import or export on this connection; it was finished, or nobody went on with it in time")

    /// More at a time than people run.
    static let limit = 8
    /// How long the agent waits for the next part.
    static let patience = TimeAmount.seconds(60)
    /// Bytes of an export in one reply, well below the longest.
    static let partSize = 256 * 1024
}
