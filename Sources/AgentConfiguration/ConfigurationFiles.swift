package import AgentSocket
internal import PosixFiles
internal import TokenModel

/// The places of the configuration: the system's files, and the user's.
package struct ConfigurationFiles: Sendable, Equatable {
    /// The files of the system in the order in which they are read: `config.toml`, then those of `conf.d` in the order of their
    /// names. Files that do not exist are passed over.
    package let system: [String]
    /// The file of the user, whose values replace those of the system.
    package let user: String
    /// Whether it is an error if the user's file does not exist.
    package var isUserFileRequired: Bool

    /// - Parameter named: the user's file if the command line names one; nil takes that of the environment.
    package init(_ environment: AgentEnvironment, named: String? = nil) {
        let folder = environment.systemConfigFolder
        let names = PrivateFiles(errorCode: .invalidDeveloperParameter).names(in: "\(folder)/conf.d")
        system =
            ["\(folder)/config.toml"]
            + names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted().map { "\(folder)/conf.d/\($0)" }
        user = named ?? environment.configFile
        isUserFileRequired = named != nil || environment.namesConfigFile
    }

    /// The places that the environment of this process names.
    package static var current: ConfigurationFiles { ConfigurationFiles(.current) }
}
