internal import AgentSocket
internal import PosixFiles
package import TokenModel

/// Checks of the files that the configuration names, which the agent, its `--check-config` and `ssoctl doctor` make alike.
extension Configuration {
    /// Checks that `network.ca_file` and `confirmation.askpass` can be used, and that other users cannot change or replace them.
    ///
    /// - Parameter isRestricted: whether this process may open few files only. It does not refuse others then, unless they do not
    ///   exist, or other users can change or replace them.
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line and the remedy.
    package func requireNamedFiles(isRestricted: Bool = false) throws(TokenError) {
        try requireAskpass(isRestricted: isRestricted)
        if let caFile, caFile.value.trimmedNonEmpty != nil {
            let isReadable = try Self.trusted(caFile, "network.ca_file", isRestricted) { file throws(SystemError) in
                try PEMCertificates.canBeRead(file)
            }
            guard isReadable != false else {
                throw Self.error(
                    caFile, "network.ca_file",
                    Problem("it has no certificate in the PEM format that can be decoded; name another file"))
            }
        }
    }

    /// Checks that `confirmation.askpass` can be used, as ``requireNamedFiles()`` does.
    package func requireAskpass(isRestricted: Bool = false) throws(TokenError) {
        if let askpass {
            _ = try Self.trusted(askpass, "confirmation.askpass", isRestricted) { _ in }
            guard let status = FileStatus(askpass.value), status.mode & 0o111 == 0 else { return }
            throw Self.error(
                askpass, "confirmation.askpass",
                Problem("it is not executable", .run("chmod u+x \(askpass.value.shellWord)")))
        }
    }

    /// Checks that an agent could make its socket for measurements, `metrics.socket`, at the path.
    ///
    /// - Parameter agentSocket: the path of the agent's own socket.
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line and the remedy.
    package func requireMetricsSocket(besides agentSocket: String) throws(TokenError) {
        guard let metricsSocket else { return }
        guard !SocketFolder.isSameSocket(metricsSocket.value, agentSocket) else {
            throw Self.error(
                metricsSocket, "metrics.socket", Problem("it is the agent's socket; name another path"))
        }
        do throws(TokenError) {
            try SocketFolder.requireUsable(ofSocket: metricsSocket.value, .metrics)
        } catch {
            throw Self.error(metricsSocket, "metrics.socket", error.problem)
        }
    }

    /// Passes a file that other users cannot change or replace to `body`; nil if a restricted process cannot open it.
    private static func trusted<Result>(
        _ path: Located, _ key: String, _ isRestricted: Bool,
        _ body: (borrowing FileDescriptor) throws(SystemError) -> Result
    ) throws(TokenError) -> Result? {
        do throws(TrustedFileError) {
            let file = try FileDescriptor.trusted(path.value)
            return try FileDescriptor.attempt { () throws(SystemError) in try body(file) }
        } catch {
            if isRestricted, error.isPermissionDenied, let status = FileStatus(path.value), status.kind == .regular,
                status.isOwnOrRoots, !status.isWritableByOthers
            {
                return nil
            }
            // An error of the file's owner or mode has its own remedy.
            let (problem, other) = (error.problem, "; name another file, or remove the line")
            let words = problem.remedy == nil && !problem.statement.contains("; ") ? other : ""
            throw Self.error(path, key, Problem(problem.statement + words, problem.remedy))
        }
    }

    private static func error(_ path: Located, _ key: String, _ problem: Problem) -> TokenError {
        TokenError(
            .invalidDeveloperParameter,
            problem.after("\(path.place): \(key) names \(path.value), which cannot be used: ")
        ).suggesting(ConfigurationFiles.editCommand(path.file, line: path.line))
    }
}
