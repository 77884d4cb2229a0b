internal import AgentConfiguration
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The apps and the defaults of the configuration, and the variables that replace the defaults.
struct Settings {
    let configuration: Configuration
    /// Reads the configuration.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line and the remedy.
    static func read() throws(CommandFailure) -> Settings {
        do throws(TokenError) { return Settings(configuration: try Configuration(.current)) } catch {
            throw CommandFailure(error)
        }
    }

    /// The account of `$SSO_AGENT_ACCOUNT`; nil if there is none.
    static var accountVariable: String? { variable("SSO_AGENT_ACCOUNT") }

    /// The app of the options, or else the default.
    func app(of options: AppOptions) throws(CommandFailure) -> ConfiguredApp {
        if let name = options.name ?? options.option { return try app(named: name) }
        return try defaultApp()
    }

    /// The app with a name.
    ///
    /// - Throws: usage, with the apps that there are.
    func app(named name: String) throws(CommandFailure) -> ConfiguredApp {
        if let app = configuration.app(named: name) { return app }
        guard !name.contains("@") else {
            throw .usage("“\(name)” is an account, not an app: name it with --account, or to sign in with --login-hint")
        }
        let names = configuration.apps.map(\.name)
        let nearest = Suggestion.nearest(to: name, among: names)
        let others = names.isEmpty ? "there are none yet" : "there are: \(names.joined(separator: ", "))"
        throw .usage(
            "“\(name)” is not an app of the configuration; \(nearest.map { "did you mean “\($0)”?" } ?? others)",
            nextCommand: nearest == nil ? "ssoctl app add \(CommandLineWords.quoted(name)) --client-id CLIENT-ID" : nil)
    }

    /// The app that is meant if none is named: `$SSO_AGENT_APP`, else the configuration's default, else its only app.
    ///
    /// - Throws: usage if there is none, or several.
    func defaultApp() throws(CommandFailure) -> ConfiguredApp {
        if let name = Self.variable("SSO_AGENT_APP") { return try app(named: name) }
        if let name = configuration.defaultApp {
            guard let app = configuration.app(named: name.value) else {
                throw .usage(
                    "the default app “\(name.value)” of \(name.file), line \(name.line), does not exist",
                    nextCommand: "ssoctl use APP")
            }
            return app
        }
        if configuration.apps.count == 1 { return configuration.apps[0] }
        guard configuration.apps.isEmpty else {
            throw .usage(
                "there are several apps; name one of \(configuration.apps.map(\.name).joined(separator: ", ")), or choose a default",
                nextCommand: "ssoctl use APP")
        }
        throw .usage(
            "no app is known: give --client-id and --scope, or set an app up, once", nextCommand: "ssoctl init")
    }

    /// The account that is meant if none is named: `$SSO_AGENT_ACCOUNT`, else the configuration's default; nil if there is none.
    var defaultAccount: String? { Self.accountVariable ?? configuration.defaultAccount?.value }

    /// The names of the apps.
    var appNames: [ClientID: String] {
        // Of two names of one app, the first.
        Dictionary(configuration.apps.map { ($0.clientID, $0.name) }, uniquingKeysWith: { first, _ in first })
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).flatMap { String(cString: $0).trimmedNonEmpty }
    }
}
