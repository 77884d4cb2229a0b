internal import PosixFiles
package import TokenModel

/// Checks of the files that the configuration names, which the agent, its `--check-config` and `ssoctl doctor` make alike.
extension Configuration {
    /// Checks that `network.ca_file` and `confirmation.askpass` can be used, and that other users cannot change or replace them.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line and the remedy.
    package func requireNamedFiles() throws(TokenError) {
        try requireAskpass()
        if let caFile, caFile.value.trimmedNonEmpty != nil {
            let isReadable = try Self.trusted(caFile, "network.ca_file") { file throws(SystemError) in
                try PEMCertificates.canBeRead(file)
            }
            guard isReadable else {
                throw Self.error(
                    caFile, "network.ca_file",
                    "it has no certificate in the PEM format that can be decoded; name another file")
            }
        }
    }

    /// Checks that `confirmation.askpass` can be used, as ``requireNamedFiles()`` does.
    package func requireAskpass() throws(TokenError) {
        if let askpass {
            try Self.trusted(askpass, "confirmation.askpass") { _ in }
            guard let status = FileStatus(askpass.value), status.mode & 0o111 == 0 else { return }
            throw Self.error(
                askpass, "confirmation.askpass", "it is not executable; run: chmod u+x \(askpass.value.shellWord)")
        }
    }

    /// Passes a file that other users cannot change or replace to `body`.
    private static func trusted<Result>(
        _ path: Located<String>, _ key: String, _ body: (borrowing FileDescriptor) throws(SystemError) -> Result
    ) throws(TokenError) -> Result {
        do throws(TrustedFileError) {
            let file = try FileDescriptor.trusted(path.value)
            do throws(SystemError) { return try body(file) } catch { throw TrustedFileError(error) }
        } catch {
            // An error of the file's owner or mode has its own remedy.
            let remedy = error.description.contains("; ") ? "" : "; name another file, or remove the line"
            throw Self.error(path, key, "\(error)\(remedy)")
        }
    }

    private static func error(_ path: Located<String>, _ key: String, _ reason: String) -> TokenError {
        TokenError(
            .invalidDeveloperParameter,
            "\(path.place): \(key) names \(path.value), which cannot be used: \(reason)")
    }
}
