internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The names of the store's files.
struct StorePaths: Sendable {
    let directory: String

    init(_ directory: String) {
        self.directory = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
    }

    var database: String { "\(directory)/\(StoreFiles.name)" }
    /// SQLite's write-ahead log.
    var log: String { database + "-wal" }
    /// A database being built.
    var draft: String { database + ".draft" }
    /// A database that is complete, and on its way to take the other's place.
    var replacement: String { database + ".new" }

    /// Moves the database, its log and `others` out of the way, under names that say when.
    ///
    /// - Returns: the database's new name.
    func quarantine(_ others: [String] = [], now: Int64) throws(TokenError) -> String {
        let stamp = hasLog ? unusedStamp(now) : stampOfALoneLog ?? unusedStamp(now)
        // The log first: a database without its log is an older one, a log without its database is nothing.
        for path in (hasLog ? [log] : []) + [database] + others where StoreFiles.size(of: path) != nil {
            let base = path == log ? database + stamp + "-wal" : path + stamp
            try StoreFiles.move(path, to: base)
        }
        return StoreFiles.name + stamp
    }

    /// Whether a replacement has been begun: a whole new file is there, whatever has become of the old one.
    var isReplacing: Bool { StoreFiles.size(of: replacement) != nil }

    /// The database, or what is about to take its place.
    var current: String { isReplacing ? replacement : database }

    /// Puts the replacement in the database's place, where one was begun, and what is there in quarantine.
    func finishReplacing(now: Int64) throws(TokenError) -> String? {
        guard isReplacing else { return nil }
        let name = hasLog || StoreFiles.size(of: database) != nil ? try quarantine(now: now) : nil
        try StoreFiles.move(replacement, to: database)
        return name
    }

    /// The files in quarantine, by name.
    var quarantined: [String] {
        guard let folder = opendir(directory) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.contains(StoreFiles.quarantine) { names.append(name) }
        }
        // A log goes with its database.
        return names.filter { !$0.hasSuffix("-wal") || !names.contains(String($0.dropLast(4))) }.sorted()
    }

    /// Whether there is anything in the log.
    private var hasLog: Bool { StoreFiles.size(of: log).map { $0 > 0 } ?? false }

    /// What the log was named by when a crash kept its database from following it.
    private var stampOfALoneLog: String? {
        quarantined.last { $0.hasPrefix(StoreFiles.name) && $0.hasSuffix("-wal") }
            .map { String($0.dropFirst(StoreFiles.name.count).dropLast(4)) }
    }

    private func unusedStamp(_ now: Int64) -> String {
        var (seconds, parts) = (time_t(now), tm())
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
        let time = String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var (stamp, number) = (StoreFiles.quarantine + time, 1)
        while StoreFiles.size(of: database + stamp) != nil || StoreFiles.size(of: database + stamp + "-wal") != nil {
            number += 1
            stamp = "\(StoreFiles.quarantine)\(time)-\(number)"
        }
        return stamp
    }
}
