internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The directory and the file, for their owner's eyes only.
enum StoreFiles {
    static let name = "cache.sqlite"
    /// Beside the name of the file that lies in it.
    static let quarantine = ".quarantine-"

    /// Makes the directory with mode 0700 where there is none, and refuses one that others own or can change.
    /// One that others can only enter will do: the files in it have mode 0600.
    static func prepareDirectory(_ directory: String) throws(TokenError) {
        guard !directory.isEmpty else { throw TokenError(.storeUnavailable, "the store's directory has no name") }
        try makeDirectory(directory)
        if let link = status(directory, following: false), link.st_uid != geteuid() {
            throw TokenError(.storeUnavailable, "\(directory) belongs to user \(link.st_uid), not to \(geteuid())")
        }
        guard let found = status(directory, following: true) else { throw failure("cannot use", directory, errno) }
        guard found.st_mode & S_IFMT == S_IFDIR else {
            throw TokenError(.storeUnavailable, "\(directory) is not a directory")
        }
        guard found.st_uid == geteuid() else {
            throw TokenError(.storeUnavailable, "\(directory) belongs to user \(found.st_uid), not to \(geteuid())")
        }
        guard found.st_mode & 0o022 == 0 else {
            throw TokenError(
                .storeUnavailable, "\(directory) can be changed by other users; run: chmod 700 '\(directory)'")
        }
    }

    /// Puts modes right that a backup lost; where that cannot be, the directory's mode still protects the files.
    ///
    /// - Throws: `storeUnavailable` when something else is in a file's place.
    static func tidy(_ paths: [String]) throws(TokenError) {
        for path in paths {
            guard let found = status(path, following: false) else { continue }
            guard found.st_mode & S_IFMT == S_IFREG, found.st_uid == geteuid() else {
                throw TokenError(.storeUnavailable, "\(path) is not a file of user \(geteuid()); move it elsewhere")
            }
            if found.st_mode & 0o077 != 0 { chmod(path, 0o600) }
        }
    }

    /// Makes an empty file with mode 0600, whatever the umask; what was there is gone.
    static func make(_ path: String) throws(TokenError) {
        unlink(path)
        let file = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
        guard file >= 0 else { throw failure("cannot make", path, errno) }
        fchmod(file, 0o600)
        close(file)
    }

    /// The size of a file; nil when there is none.
    static func size(of path: String) -> Int? { status(path, following: true).map { Int($0.st_size) } }

    /// A file's bytes, `limit` at most; nil when there is no such file.
    static func read(_ path: String, limit: Int = .max) throws(TokenError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("cannot read", path, errno)
        }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw failure("cannot read", path, errno) }
        let wanted = min(Int(found.st_size), limit)
        var problem: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            while count < wanted {
                let got = pread(file, buffer.baseAddress.map { $0 + count }, wanted - count, off_t(count))
                if got < 0, errno == EINTR { continue }
                if got < 0 { problem = errno }
                guard got > 0 else { break }
                count += got
            }
        }
        guard problem == 0 else { throw failure("cannot read", path, problem) }
        return bytes
    }

    /// Writes a file of mode 0600 all at once: whoever looks finds the old one or the new one, also after a crash.
    static func write(_ bytes: [UInt8], to path: String) throws(TokenError) {
        let draft = path + ".new"
        try make(draft)
        let file = open(draft, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw failure("cannot write", draft, errno) }
        let written = writeAll(bytes, to: file) && fsync(file) == 0
        let problem = errno
        close(file)
        guard written else {
            unlink(draft)
            throw failure("cannot write", path, problem)
        }
        try move(draft, to: path)
    }

    /// Renames a file, over another one where there is one, and makes that durable.
    static func move(_ path: String, to other: String) throws(TokenError) {
        guard rename(path, other) == 0 else { throw failure("cannot move \(path) to", other, errno) }
        let end = other.lastIndex(of: "/") ?? other.startIndex
        let directory = open(String(other[..<end]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw failure("cannot use", String(other[..<end]), errno) }
        defer { close(directory) }
        // Some file systems have no flush for a directory.
        guard fsync(directory) == 0 || errno == EINVAL else { throw failure("cannot write", other, errno) }
    }

    private static func writeAll(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(rest.startIndex)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func makeDirectory(_ directory: String) throws(TokenError) {
        if mkdir(directory, 0o700) == 0 {
            chmod(directory, 0o700)
            return
        }
        if errno == ENOENT {
            try makeParents(of: directory)
            guard mkdir(directory, 0o700) == 0 else { throw failure("cannot make", directory, errno) }
            chmod(directory, 0o700)
        } else if errno != EEXIST {
            throw failure("cannot make", directory, errno)
        }
    }

    private static func makeParents(of directory: String) throws(TokenError) {
        var end = directory.startIndex
        while let slash = directory[end...].dropFirst().firstIndex(of: "/") {
            end = slash
            let parent = String(directory[..<slash])
            guard mkdir(parent, 0o755) == 0 || errno == EEXIST else { throw failure("cannot make", parent, errno) }
        }
    }

    private static func status(_ path: String, following: Bool) -> stat? {
        var found = stat()
        let result = following ? stat(path, &found) : lstat(path, &found)
        return result == 0 ? found : nil
    }

    private static func failure(_ what: String, _ path: String, _ number: Int32) -> TokenError {
        TokenError(.storeUnavailable, "\(what) \(path): \(String(cString: strerror(number)))")
    }
}
