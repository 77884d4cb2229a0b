package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The configuration file of the agent: the table `[network]` with `ca_file` and `proxy`.
package struct Configuration: Sendable, Equatable {
    /// The file of certificate authorities to trust instead of the system's; nil if the file does not name one.
    package private(set) var caFile: String?
    /// The URL of the proxy; nil if the file does not name one.
    package private(set) var proxy: String?

    /// The size of the largest file that is read, in bytes.
    package static let sizeLimit = 64 << 10

    /// Reads the file at a path.
    ///
    /// - Parameter isRequired: whether a missing file is an error; the standard one need not be there.
    /// - Throws: `invalidDeveloperParameter` (-51112) that names the file, the line, and what to change.
    package init(path: String, isRequired: Bool) throws(TokenError) {
        guard isRequired || access(path, F_OK) == 0 else { return }
        guard let bytes = Self.bytes(of: path) else {
            let reason = String(cString: strerror(errno))
            throw TokenError(.invalidDeveloperParameter, "the configuration \(path) cannot be read: \(reason)")
        }
        guard bytes.count <= Self.sizeLimit else {
            throw TokenError(
                .invalidDeveloperParameter,
                "the configuration \(path) cannot be read: it has more than \(Self.sizeLimit) bytes; shorten it")
        }
        do throws(TOMLError) {
            let read = try Configuration(decoding: bytes)
            (caFile, proxy) = (read.caFile, read.proxy)
        } catch {
            throw TokenError(.invalidDeveloperParameter, "the configuration \(path) cannot be read: \(error)")
        }
    }

    /// The content of a file, cut one byte behind the limit; nil, and `errno`, if it cannot be read.
    private static func bytes(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: sizeLimit + 1)
        var count = 0
        while count < bytes.count {
            let length = bytes.withUnsafeMutableBytes {
                read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if length < 0, errno == EINTR { continue }
            if length < 0 {
                let reason = errno
                close(file)
                errno = reason
                return nil
            }
            if length == 0 { break }
            count += length
        }
        close(file)
        return Array(bytes.prefix(count))
    }

    /// Decodes the content of a file. Unknown tables and keys are errors: a misspelt key must not be ignored.
    init(decoding bytes: some Sequence<UInt8>) throws(TOMLError) {
        for entry in try TOMLDocument(decoding: bytes).entries {
            switch (entry.table, entry.key) {
            case ("network", "ca_file"): caFile = try entry.text
            case ("network", "proxy"): proxy = try entry.text
            case ("network", let key):
                throw TOMLError(entry.line, "“\(key)” is not a key of [network]; use ca_file or proxy")
            case ("", let key):
                throw TOMLError(entry.line, "“\(key)” is in no table; put it below the line [network]")
            case (let table, _):
                throw TOMLError(entry.line, "[\(table)] is not a table of the configuration; use [network]")
            }
        }
    }
}
