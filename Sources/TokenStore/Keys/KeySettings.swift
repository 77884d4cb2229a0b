package import TokenModel

/// What the agent was given to open its store with.
package struct KeySettings: Sendable {
    /// `$CREDENTIALS_DIRECTORY`, where a service manager puts secrets; nil outside of one.
    package var credentialsDirectory: String?
    /// The program that speaks to the Secret Service.
    package var secretTool: String
    /// The passphrase, once somebody has given it.
    package var passphrase: Secret?

    package init(
        credentialsDirectory: String? = nil, secretTool: String = "secret-tool", passphrase: Secret? = nil
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.secretTool = secretTool
        self.passphrase = passphrase
    }
}
