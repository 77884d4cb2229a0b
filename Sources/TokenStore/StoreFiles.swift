internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The directory and the file, for their owner's eyes only.
enum StoreFiles {
    static let name = "cache.sqlite"

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

    /// Makes the file with mode 0600 where there is none; SQLite gives the files beside it the same mode.
    static func prepareFile(_ path: String) throws(TokenError) {
        // Made here and not by SQLite, whose mode would depend on the umask; and EXCL, so that an existing file is
        // not opened: closing it would drop the lock of a store that this process already has on it.
        let file = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
        if file >= 0 {
            fchmod(file, 0o600)
            close(file)
            return
        }
        guard errno == EEXIST, let found = status(path, following: false) else {
            throw failure("cannot make", path, errno)
        }
        guard found.st_mode & S_IFMT == S_IFREG, found.st_uid == geteuid() else {
            throw TokenError(.storeUnavailable, "\(path) is not a file of user \(geteuid()); move it elsewhere")
        }
        // Nobody else can enter the directory, so a mode that a backup lost is put right without further ado.
        for file in [path, path + "-wal"] where status(file, following: false) != nil {
            guard chmod(file, 0o600) == 0 else { throw failure("cannot change the mode of", file, errno) }
        }
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
