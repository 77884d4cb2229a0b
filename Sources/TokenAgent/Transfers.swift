internal import NIOCore
internal import TokenModel

/// Caches of other libraries on their way in or out: bounded in number and size, and forgotten when nobody goes on.
struct Transfers {
    /// A cache that is still coming in.
    struct Upload {
        /// The first part, which says what to do with the whole.
        var request: ImportCache
        var parts: [Secret]
        var size: Int
        var expiry: Scheduled<Void>
    }

    /// A cache that is still going out.
    struct Download {
        var data: Secret
        var position: Int
        var expiry: Scheduled<Void>
    }

    private(set) var uploads: [String: Upload] = [:]
    private(set) var downloads: [String: Download] = [:]

    mutating func keep(_ upload: Upload, as id: String) { uploads[id] = upload }

    mutating func keep(_ download: Download, as id: String) { downloads[id] = download }

    /// Lets go of a transfer, to go on with it or because nobody did.
    mutating func takeUpload(_ id: String) -> Upload? {
        let upload = uploads.removeValue(forKey: id)
        upload?.expiry.cancel()
        return upload
    }

    mutating func takeDownload(_ id: String) -> Download? {
        let download = downloads.removeValue(forKey: id)
        download?.expiry.cancel()
        return download
    }

    mutating func forget(_ id: String) {
        _ = takeUpload(id)
        _ = takeDownload(id)
    }

    mutating func forgetAll() {
        for id in Array(uploads.keys) + Array(downloads.keys) { forget(id) }
    }

    /// Why `more` bytes cannot be taken now, if that is so.
    func refusal(of more: Int) -> TokenError? {
        let size =
            uploads.values.reduce(more) { $0 + $1.size } + downloads.values.reduce(0) { $0 + $1.data.count }
        guard size <= Self.mostBytes else {
            return TokenError(.frameTooLarge, "caches under way come to more than \(Self.mostBytes >> 20) MiB")
        }
        guard uploads.count + downloads.count < Self.limit else {
            return TokenError(
                .interactionInProgress, "\(Self.limit) imports and exports are under way already; wait for one of them")
        }
        return nil
    }

    static let unknown = TokenError(
        .sessionCanceled, "there is no such import or export; it was finished, or nobody went on with it in time")

    /// More at a time than people run.
    static let limit = 8
    /// For all of them together; a cache of 10,000 accounts is half of it.
    static let mostBytes = 64 << 20
    /// How long the agent waits for the next part.
    static let patience = TimeAmount.seconds(60)
    /// Bytes of an export in one reply, well below the longest.
    static let partSize = 256 * 1024
}
