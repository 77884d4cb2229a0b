package import AgentSocket
internal import PosixFiles
package import TokenModel

/// The places of the configuration: the system's files, and the user's.
package struct ConfigurationFiles: Sendable, Equatable {
    /// The folder of the system's files.
    private let systemFolder: String
    /// The file of the user, whose values replace those of the system.
    package let user: String
    /// Whether it is an error if the user's file does not exist.
    package var isUserFileRequired: Bool
    /// Whether the command line names the user's file.
    private let isNamed: Bool
    /// Whether a running agent reads the files: it may read only what existed when it was started, and what replaces that in most
    /// folders.
    package var isReadAgain = false

    /// - Parameter named: the user's file if the command line names one; nil takes that of the environment.
    package init(_ environment: AgentEnvironment, named: String? = nil) {
        systemFolder = environment.systemConfigFolder
        user = named ?? environment.configFile
        isNamed = named != nil
        isUserFileRequired = named != nil || environment.namesConfigFile
    }

    /// The places that the environment of this process names.
    package static var current: ConfigurationFiles { ConfigurationFiles(.current) }

    /// The files and the folder that the agent has to be able to read while it runs.
    package var places: [String] { [user, "\(systemFolder)/config.toml", "\(systemFolder)/conf.d"] }

    /// The files of the system that exist, in the order in which they are read: `config.toml`, then those of `conf.d` in the order
    /// of their names.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) if a folder cannot be read: rules in it may deny something.
    private func systemFiles() throws(TokenError) -> [String] {
        let main = "\(systemFolder)/config.toml"
        let folder = "\(systemFolder)/conf.d"
        let names: [String]
        do throws(SystemError) { names = try PrivateFiles.names(in: folder) } catch {
            throw unreadable(folder, error)
        }
        if names.isEmpty {
            for place in [systemFolder, folder] { try refuseLostLink(place) }
        }
        let files = names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted().map { "\(folder)/\($0)" }
        for file in files { try refuseUnreadableName(file) }
        return (try exists(main) ? [main] : []) + files
    }

    /// The files that exist, in the order in which they are read.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) if a folder cannot be read, or the user's file is required and does not exist.
    package func files() throws(TokenError) -> [String] {
        let system = try systemFiles()
        guard try exists(user) else {
            guard !isUserFileRequired else {
                throw TokenError(
                    .invalidDeveloperParameter,
                    "the configuration \(user) does not exist; “ssoctl init” makes it, and so does “ssoctl app add”"
                ).suggesting(initCommand)
            }
            return system
        }
        return system + [user]
    }

    /// The command that makes the user's file.
    private var initCommand: String {
        isNamed ? "SSO_AGENT_CONFIG=\(user.shellWord) ssoctl init" : "ssoctl init"
    }

    /// The command with which the user changes a file: with the editor of the user, or with that of root's files.
    ///
    /// - Parameter line: the line at which the file is opened, counted from 1; nil for the first one.
    package static func editCommand(_ file: String, line: Int? = nil) -> String {
        if FileStatus(file)?.isOwn == false { return "sudoedit \(file.shellWord)" }
        return "${EDITOR:-nano} \(line.map { "+\($0) " } ?? "")\(file.shellWord)"
    }

    /// The user's file of an agent that reads these files, in their order, if it is not the one of here: `--config` named it, or
    /// another environment.
    package func otherUserFile(in files: [String]) -> String? {
        files.last.flatMap { $0 == user || $0.hasPrefix("\(systemFolder)/") ? nil : $0 }
    }

    /// Refuses a symbolic link that leads nowhere: where it should lead, rules may deny something.
    private func refuseLostLink(_ path: String) throws(TokenError) {
        guard try exists(path), FileStatus(path) == nil else { return }
        throw TokenError(
            .invalidDeveloperParameter,
            "the configuration \(path) cannot be read: it is a link to a folder that does not exist; make the folder, or remove the link"
        )
    }

    /// Refuses a file whose name is not UTF-8, and has been read with U+FFFD in place of such bytes: its rules may deny something.
    private func refuseUnreadableName(_ path: String) throws(TokenError) {
        guard path.unicodeScalars.contains("\u{FFFD}"), FileStatus(path, followsLinks: false) == nil else { return }
        throw TokenError(
            .invalidDeveloperParameter,
            "the configuration \(path) cannot be read: the name of the file is not UTF-8; give it another name")
    }

    private func exists(_ path: String) throws(TokenError) -> Bool {
        do throws(SystemError) { return try FileStatus.exists(path) } catch { throw unreadable(path, error) }
    }

    private func unreadable(_ path: String, _ error: SystemError) -> TokenError {
        let sharing = error.isPermissionDenied ? sharing(path) : nil
        let words = sharing == nil ? remedy(isPermissionDenied: error.isPermissionDenied) : ""
        return TokenError(
            .invalidDeveloperParameter, "the configuration \(path) cannot be read: \(error)\(words)", sharing)
    }

    /// The command with which root lets every user read a file of the system or its folder; nil if that is not what is missing.
    func sharing(_ path: String) -> Remedy? {
        guard path.hasPrefix("\(systemFolder)/") else { return nil }
        var place = path
        while FileStatus(place) == nil, place != systemFolder { place = PrivateFiles.parent(of: place) }
        guard let status = FileStatus(place), status.owner == 0, !status.isOwn, status.mode & 0o044 == 0 else {
            return nil
        }
        return .run("sudo chmod a+r\(status.kind == .directory ? "x" : "") \(place.shellWord)")
    }

    /// What to do if something cannot be read; the end of a sentence.
    func remedy(isPermissionDenied: Bool) -> String {
        guard isReadAgain, isPermissionDenied else { return "" }
        return "; if it was made or replaced after the start of the agent, or its folder was, restart the agent"
    }
}
