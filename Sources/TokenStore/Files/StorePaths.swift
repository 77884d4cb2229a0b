internal import PosixFiles
internal import TokenModel

extension PrivateFiles {
    /// The files of the store.
    static let store = PrivateFiles(errorCode: .storeUnavailable)
}

/// The directory of the store and the files in it.
struct StorePaths: Sendable {
    /// The name of the database.
    static let name = "cache.sqlite"
    /// Follows the original name in the name of a quarantined file, before the time.
    static let quarantineMark = ".quarantine-"

    let directory: String

    init(_ directory: String) {
        self.directory = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
    }

    var database: String { "\(directory)/\(Self.name)" }
    /// SQLite's write-ahead log.
    var log: String { database + "-wal" }
    /// SQLite's rollback journal, which a store never has.
    var journal: String { database + "-journal" }
    /// A new database that is being written.
    var draft: String { database + ".draft" }
    /// A complete new database that is to replace the current one.
    var replacement: String { database + ".new" }

    /// Makes the directory with mode 0700 unless there is one, and refuses one that other users own or may change. Other users
    /// may be able to enter it, since the files in it have mode 0600.
    func prepare() throws(TokenError) {
        guard !directory.isEmpty else { throw TokenError(.storeUnavailable, "the store's directory has no name") }
        try requireTrusted()
        try PrivateFiles.store.makeDirectory(
            directory, parentMode: 0o755, alternative: "set SSO_AGENT_STATE_DIR to a folder of yours")
        // Again, with the directories that did not exist before.
        try requireTrusted()
        if let link = FileStatus(directory, followsLinks: false), !link.isOwn { throw ownerError(link) }
        guard let status = FileStatus(directory) else {
            throw PrivateFiles.store.failure("cannot use \(directory)", .last)
        }
        guard status.kind == .directory else {
            throw TokenError(.storeUnavailable, "\(directory) is not a directory")
        }
        guard status.isOwn else { throw ownerError(status) }
        guard !status.isWritableByOthers else {
            throw TokenError(
                .storeUnavailable, "\(directory) can be changed by other users",
                .run("chmod 700 \(directory.shellWord)"))
        }
    }

    private func requireTrusted() throws(TokenError) {
        guard let defect = TrustedPath.defect(ofDirectoriesAbove: directory) else { return }
        throw TokenError(.storeUnavailable, defect.after("the store's directory \(directory) is not safe: "))
    }

    private func ownerError(_ status: FileStatus) -> TokenError {
        TokenError(
            .storeUnavailable, "\(directory) belongs to user \(status.owner), not to \(FileStatus.effectiveUser)")
    }

    /// Locks the directory against other agents until the lock or the process ends.
    ///
    /// SQLite's own locks are not enough: the kernel releases them when the process closes any descriptor of the file, as it
    /// does after reading a damaged database. A file system without `flock` leaves it to SQLite's.
    ///
    /// - Throws: `storeUnavailable` (-53008) if another process has the lock.
    func lock() throws(TokenError) -> FileLock {
        let lock = try PrivateFiles.store.lock(directory: directory)
        guard lock.acquire() != .held else {
            throw TokenError(
                .storeUnavailable,
                "the store in \(directory) is in use by another process; stop the other sso-agent, or use its socket; one whose socket was "
                    + "removed, as after a log-out, ends within a minute",
                .see("pgrep -a -u \(FileStatus.effectiveUser) -x sso-agent"))
        }
        return lock
    }

    /// The size of the longest database that is read, and of the longest log, in bytes.
    static let sizeLimit = StoreLimits.size + StoreLimits.size / 16

    /// Whether the database or its log is too long.
    var isTooLong: Bool {
        get throws(TokenError) {
            for path in [database, log] {
                if let length = try size(of: path), length > Self.sizeLimit { return true }
            }
            return false
        }
    }

    /// The size of a file in bytes; nil if it does not exist.
    ///
    /// - Throws: `storeUnavailable` (-53008) if that cannot be found out: a file that is there must not be taken for a missing one.
    func size(of path: String) throws(TokenError) -> Int? { try PrivateFiles.store.size(of: path) }

    /// Reads a file of the store; empty if it does not exist, or is too long.
    func read(_ path: String) throws(TokenError) -> [UInt8] {
        if let length = try size(of: path), length > Self.sizeLimit { return [] }
        return try PrivateFiles.store.read(path, limit: Self.sizeLimit) ?? []
    }

    /// Refuses files of which it cannot be found out whether they are there, as on a file system that does not answer for a moment. A new
    /// store would take their place.
    func requireReachable() throws(TokenError) {
        for path in [database, log, replacement] where FileStatus(path) == nil {
            let exists: Bool
            do throws(SystemError) {
                exists = try FileStatus.exists(path)
            } catch {
                throw PrivateFiles.store.failure("cannot read \(path)", error)
            }
            guard !exists else {
                throw TokenError(.storeUnavailable, "\(path) is there, and cannot be read; check its file system")
            }
        }
    }

    // MARK: Replacement

    /// Whether a complete new database waits to replace the current one, which may have been moved already.
    var isReplacing: Bool {
        get throws(TokenError) {
            guard try size(of: replacement) != nil else { return false }
            return try isWholeStore(replacement)
        }
    }

    /// The database, or the one that is to replace it.
    var current: String { get throws(TokenError) { try isReplacing ? replacement : database } }

    /// Moves the current database to quarantine and the replacement to its place, if there is a replacement. An incomplete
    /// replacement is moved to quarantine instead.
    ///
    /// - Returns: the name of the quarantined database; nil if nothing was moved there.
    func finishReplacing(now: Int64) throws(TokenError) -> String? {
        guard try size(of: replacement) != nil else { return nil }
        guard try isWholeStore(replacement) else {
            try quarantine(file: replacement, now: now)
            return nil
        }
        // Before there is another database, to which the log does not belong.
        try finishQuarantine()
        let (hasLog, hasDatabase) = (try hasLog, try size(of: database) != nil)
        let name = hasLog || hasDatabase ? try quarantine(now: now) : nil
        try PrivateFiles.store.move(replacement, to: database)
        return name
    }

    /// Whether a file has the header of a store's database, and the length that the header names
    /// (https://www.sqlite.org/fileformat.html section 1.3).
    private func isWholeStore(_ path: String) throws(TokenError) -> Bool {
        guard let header = try PrivateFiles.store.read(path, limit: 100), header.count == 100,
            header.starts(with: Array("SQLite format 3\0".utf8)), let length = try size(of: path)
        else { return false }
        func number(_ bytes: Range<Int>) -> Int { header[bytes].number() }
        let pageSize = number(16..<18) == 1 ? 65_536 : number(16..<18)
        return number(68..<72) == StoreDatabase.applicationID && length == number(28..<32) * pageSize
    }

    // MARK: Quarantine

    /// Renames the database, its log and `others`; the new names have the time in them.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the new name of the database, or of the log if there is no database.
    func quarantine(_ others: [String] = [], now: Int64) throws(TokenError) -> String {
        try finishQuarantine()
        let (hasDatabase, hasLog) = (try size(of: database) != nil, try hasLog)
        let suffix = unusedSuffix(now, others)
        // After a crash in between, the name of the log shows that it belongs to the database, wherever that is.
        let moving = database + suffix + Self.movingLog
        if hasLog { try PrivateFiles.store.move(log, to: hasDatabase ? moving : log + suffix) }
        if hasDatabase { try PrivateFiles.store.move(database, to: database + suffix) }
        if hasLog, hasDatabase { try PrivateFiles.store.move(moving, to: database + suffix + "-wal") }
        for path in others {
            guard try size(of: path) != nil else { continue }
            try PrivateFiles.store.move(path, to: path + suffix)
        }
        return (hasLog && !hasDatabase ? Self.name + "-wal" : Self.name) + suffix
    }

    /// Ends a quarantine that was interrupted: the log follows its database or, if that has not been moved, returns to it. Without the log,
    /// the database would be taken for an older state.
    func finishQuarantine() throws(TokenError) {
        let names = try fileNames()
        for name in names where name.hasPrefix(Self.name + Self.quarantineMark) && name.hasSuffix(Self.movingLog) {
            let moved = "\(directory)/\(name.dropLast(Self.movingLog.count))"
            let (isMoved, isThere, hasLog) = (try size(of: moved) != nil, try size(of: database) != nil, try hasLog)
            let isInPlace = !isMoved && isThere && !hasLog
            try PrivateFiles.store.move("\(directory)/\(name)", to: isInPlace ? log : moved + "-wal")
        }
    }

    /// The end of the name of a log while it and its database are moved to quarantine.
    private static let movingLog = "-wal.moving"

    /// The names of the files in the directory.
    private func fileNames() throws(TokenError) -> [String] {
        do throws(SystemError) { return try PrivateFiles.names(in: directory) } catch {
            throw PrivateFiles.store.failure("cannot read \(directory)", error)
        }
    }

    /// The names of the files in quarantine, for the user; none if they cannot be found out.
    var quarantined: [String] { (try? findQuarantined()) ?? [] }

    /// Returns the names of the files in quarantine; the log of a quarantined database is not listed.
    ///
    /// - Throws: `storeUnavailable` (-53008) if they cannot be found out.
    func findQuarantined() throws(TokenError) -> [String] {
        let names = try fileNames().filter(Self.isQuarantined)
        return names.filter { !$0.hasSuffix("-wal") || !names.contains(String($0.dropLast(4))) }.sorted()
    }

    /// Whether a file's name has the mark. By bytes: the search of a text in another one needs tables of characters, at each start.
    private static func isQuarantined(_ name: String) -> Bool {
        name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst().contains {
            $0.starts(with: quarantineMark.utf8.dropFirst())
        }
    }

    /// Moves a rollback journal to quarantine. SQLite would write its pages into the database, and delete the file that it names
    /// as the journal of a larger transaction, whichever that is.
    func quarantineJournal(now: Int64) throws(TokenError) {
        guard PrivateFiles.store.exists(journal) else { return }
        try quarantine(file: journal, now: now)
    }

    /// Moves a file that belongs to no database to quarantine.
    ///
    /// - Returns: the new path.
    @discardableResult
    func quarantine(file path: String, now: Int64) throws(TokenError) -> String {
        let target = path + unusedSuffix(now, [path])
        try PrivateFiles.store.move(path, to: target)
        return target
    }

    private var hasLog: Bool {
        get throws(TokenError) {
            guard let length = try size(of: log) else { return false }
            return length > 0
        }
    }

    /// The suffix for the database, its log and `others`, with which no file has its name.
    private func unusedSuffix(_ now: Int64, _ others: [String]) -> String {
        let time = CivilTime(secondsSince1970: now).compactText + "Z"
        var (suffix, number) = (Self.quarantineMark + time, 1)
        while ([database + suffix, database + suffix + "-wal"] + ([log] + others).map { $0 + suffix })
            .contains(where: PrivateFiles.store.exists)
        {
            number += 1
            suffix = "\(Self.quarantineMark)\(time)-\(number)"
        }
        return suffix
    }
}
