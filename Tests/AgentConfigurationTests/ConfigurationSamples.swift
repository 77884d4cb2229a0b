internal import AgentConfiguration
internal import AgentSocket
internal import TokenModel

extension ConfigurationFiles {
    /// The file of a user alone, on a system without files.
    static func user(_ path: String, isRequired: Bool) -> ConfigurationFiles {
        var files = ConfigurationFiles(
            AgentEnvironment(variables: ["SSO_AGENT_SYSTEM_CONFIG": "\(path).system"]), named: path)
        files.isUserFileRequired = isRequired
        return files
    }
}

extension Configuration {
    /// Reads the file of a user, on a system without files.
    init(userFile path: String, isRequired: Bool) throws(TokenError) {
        try self.init(ConfigurationFiles.user(path, isRequired: isRequired))
    }
}
