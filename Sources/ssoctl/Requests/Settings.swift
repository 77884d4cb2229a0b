internal import AgentConfiguration
internal import AgentSocket
internal import PosixFiles
internal import TokenModel

/// The apps and the defaults of the configuration, and the variables that replace the defaults.
struct Settings {
    let configuration: Configuration

    /// Reads the configuration.
    ///
    /// - Parameter mayCreate: whether the command creates the user's file if there is none.
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line and the remedy.
    static func read(mayCreate: Bool = false) throws(CommandFailure) -> Settings {
        do throws(TokenError) { try AgentEnvironment.current.requireHome(hasStore: true) } catch {
            throw CommandFailure(TokenError(error.code, "HOME is not set"), nextCommand: "export HOME=FOLDER")
        }
        var files = ConfigurationFiles.current
        if files.isUserFileRequired, FileStatus(files.user) == nil {
            guard mayCreate else {
                throw CommandFailure(
                    TokenError(
                        .invalidDeveloperParameter,
                        "SSO_AGENT_CONFIG names \(files.user), which does not exist; create it, or unset the variable"),
                    nextCommand: "ssoctl init")
            }
            files.isUserFileRequired = false
        }
        do throws(TokenError) { return Settings(configuration: try Configuration(files)) } catch {
            throw CommandFailure(error)
        }
    }

    /// Checks what else keeps the agent from starting, but for the file of certificate authorities.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line and the remedy.
    func requireUsable() throws(CommandFailure) {
        do throws(TokenError) {
            try configuration.requireAskpass()
            try configuration.requireMetricsSocket(besides: AgentEnvironment.current.socketPath)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The name of the app that is meant if none is named; nil if there is no such app.
    var defaultAppName: String? { (try? defaultApp())?.name }

    /// The authority of the app that is meant if none is named; nil if there is no such app, or it has none of its own.
    var defaultAuthority: Authority? { (try? defaultApp())?.authority }

    /// The account of `$SSO_AGENT_ACCOUNT`; nil if there is none.
    static var accountVariable: AccountName? { AgentEnvironment.value("SSO_AGENT_ACCOUNT").map { AccountName($0) } }

    /// The app with a name.
    ///
    /// - Parameter command: the same command for the app with another name, in case that this one is not right.
    /// - Throws: usage, with the apps that there are.
    func app(named name: String, _ command: (String) -> CommandLineWords) throws(CommandFailure) -> ConfiguredApp {
        if let app = configuration.app(named: name) { return app }
        let names = configuration.apps.map(\.name)
        guard let nearest = Suggestion.nearest(to: name, among: names) else {
            let others = names.isEmpty ? "there are none yet" : "there are: \(names.joined(separator: ", "))"
            // A new app cannot have every name.
            let newName = ConfiguredApp.isName(name) ? name : "NAME"
            throw .usage(
                "“\(name)” is not an app of the configuration; \(others)",
                nextCommand: CommandLineWords("ssoctl", "app", "add", newName, "--client-id", "CLIENT-ID").text)
        }
        throw .usage(
            "“\(name)” is not an app of the configuration; did you mean “\(nearest)”?",
            nextCommand: command(nearest).text)
    }

    /// The app that is meant if none is named: `$SSO_AGENT_APP`, else the configuration's default, else its only app.
    ///
    /// - Parameter command: the same command for the app with a name, in case that there are several; by default the one that
    ///   chooses the default app.
    /// - Throws: usage if there is none, or several.
    func defaultApp(
        _ command: (String) -> CommandLineWords = { CommandLineWords("ssoctl", "use", $0) }
    ) throws(CommandFailure) -> ConfiguredApp {
        if let name = AgentEnvironment.value("SSO_AGENT_APP") {
            if let app = configuration.app(named: name) { return app }
            throw .usage(
                "SSO_AGENT_APP names “\(name)”, which is not an app of the configuration", nextCommand: Self.list)
        }
        if let name = configuration.defaultApp {
            if let app = configuration.app(named: name.value) { return app }
            throw CommandFailure(
                TokenError(
                    .invalidDeveloperParameter, "\(name.place): the default app “\(name.value)” does not exist"),
                nextCommand: configuration.apps.first.map { CommandLineWords("ssoctl", "use", $0.name).text }
                    ?? "ssoctl init")
        }
        if configuration.apps.count == 1 { return configuration.apps[0] }
        guard configuration.apps.isEmpty else {
            throw .usage(
                "there are several apps; name one of \(configuration.apps.map(\.name).joined(separator: ", ")), or choose a default",
                nextCommand: command(configuration.apps[0].name).text)
        }
        throw .usage(
            "no app is known: give --client-id and --scope, or set an app up, once", nextCommand: "ssoctl init")
    }

    private static let list = "ssoctl app list"

    /// The account that is meant if none is named: `$SSO_AGENT_ACCOUNT`, else the configuration's default; nil if there is none.
    var defaultAccount: AccountName? {
        Self.accountVariable ?? configuration.defaultAccount.map { AccountName($0.value) }
    }

    /// The names of the apps.
    ///
    /// - Parameter app: the app whose name is taken, if others have its client ID too; nil for the default one.
    func appNames(first app: ConfiguredApp? = nil) -> [ClientID: String] {
        let preferred = [app, try? defaultApp()].compactMap(\.self)
        return Dictionary(
            (preferred + configuration.apps).map { ($0.clientID, $0.name) }, uniquingKeysWith: { first, _ in first })
    }
}
