internal import PosixFiles
package import TokenModel

/// The configuration file of the agent, with the table `[network]` and its keys `ca_file` and `proxy`.
package struct Configuration: Sendable, Equatable {
    /// The file of certificate authorities to trust instead of the system's; nil if the file does not name one.
    package private(set) var caFile: String?
    /// The URL of the proxy; nil if the file does not name one.
    package private(set) var proxy: String?

    /// The size of the largest configuration file, in bytes.
    package static let sizeLimit = 64 << 10

    /// Reads the file at a path.
    ///
    /// The file names the certificate authorities and the proxy: other users must not be able to change or replace it.
    ///
    /// - Parameter isRequired: whether a missing file is an error.
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line, and what to change.
    package init(path: String, isRequired: Bool) throws(TokenError) {
        guard isRequired || FileStatus(path) != nil else { return }
        let bytes: [UInt8]
        do throws(TrustedFileError) {
            bytes = try Self.content(of: FileDescriptor.trusted(path))
        } catch {
            throw TokenError(.invalidDeveloperParameter, "the configuration \(path) cannot be used: \(error)")
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

    private static func content(of file: borrowing FileDescriptor) throws(TrustedFileError) -> [UInt8] {
        do throws(SystemError) {
            // One byte more than the limit shows that the file is longer.
            return try file.readToEnd(limit: sizeLimit + 1)
        } catch {
            throw TrustedFileError(error)
        }
    }

    /// Decodes the content of a file. Unknown tables and keys are errors, so that a misspelt key is not ignored.
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
