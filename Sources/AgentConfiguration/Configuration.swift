package import AccessPolicy
internal import PosixFiles
package import TokenModel

/// The configuration: the tables `[agent]`, `[network]`, `[confirmation]`, `[audit]`, `[tokens]` and `[metrics]` and the access rules
/// `[[rule]]`, which the agent uses, and `[apps.NAME]` and `[defaults]`, which `ssoctl` uses. Both read all of it, so that each reports every
/// mistake.
package struct Configuration: Sendable, Equatable {
    /// The file of certificate authorities to trust instead of the system's; nil if the file does not name one.
    package private(set) var caFile: Located?
    /// The URL of the proxy; nil if the file does not name one.
    package private(set) var proxy: Located?
    /// Whether authorities on this machine may use `http`, as those of an emulator do.
    package private(set) var allowsLoopbackHTTP = false
    /// The rules of the access policy, in the order of the files: those of the system first.
    package private(set) var rules: [PolicyRule] = []
    /// The program that asks the user to confirm a request, instead of the terminal of the process that has sent it;
    /// nil if the file does not name one.
    package private(set) var askpass: Located?
    /// The place of the audit log.
    package private(set) var audit = AuditDestination.file
    /// Whether the audit log has usernames.
    package private(set) var auditsNames = false
    /// The apps in the order of their names. Of two with one name, that of the later file.
    package private(set) var apps: [ConfiguredApp] = []
    /// The name of the app that `ssoctl` uses if none is given; nil if no file names one.
    package private(set) var defaultApp: Located?
    /// The account that `ssoctl` uses if none is given: its name, a prefix of it, or its identifier; nil if no file names one.
    package private(set) var defaultAccount: Located?
    /// Whether apps may keep access tokens in their own memory while these hold.
    package private(set) var letsAppsKeepTokens = true
    /// The path of the socket for the agent's measurements; nil for none.
    package private(set) var metricsSocket: Located?
    /// Whether apps may start the agent if it does not run.
    package private(set) var mayBeStartedOnDemand = true
    /// The files that were read, in this order.
    package private(set) var files: [String] = []

    /// A value with its place, for messages.
    package struct Located: Sendable, Equatable {
        package let value: String
        package let file: String
        /// Counted from 1.
        package let line: Int

        /// The file and the line, as compilers write them.
        package var place: String { "\(file):\(line)" }
    }

    /// The places of the audit log.
    package enum AuditDestination: String, Sendable, CaseIterable {
        /// A file in the store's folder.
        case file
        /// The system's journal.
        case journal
        case off
    }

    /// The size of the largest configuration file, in bytes.
    package static let sizeLimit = 64 << 10

    /// Reads the files at these places: those of the system first, so that the user's values replace theirs. Rules add up.
    ///
    /// The files name the certificate authorities, the proxy and the rules: other users must not be able to change or replace them.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line, and what to change.
    package init(_ places: ConfigurationFiles) throws(TokenError) {
        for path in try places.files() { try read(path, of: places) }
    }

    /// Replaces the values that options of the agent's command line decide, whatever the files say.
    ///
    /// - Parameters:
    ///   - allowsLoopbackHTTP: whether there is `--allow-loopback-http`.
    ///   - hasMetricsSocket: whether there is `--metrics-socket`.
    package mutating func yieldToOptions(allowsLoopbackHTTP isAllowed: Bool, hasMetricsSocket: Bool) {
        if isAllowed { allowsLoopbackHTTP = true }
        if hasMetricsSocket { metricsSocket = nil }
    }

    /// This configuration with the values of another one, except those that need a restart.
    func updated(from other: Configuration, withRules hasNewRules: Bool) -> Configuration {
        var configuration = other
        if !hasNewRules { configuration.rules = rules }
        (configuration.caFile, configuration.proxy, configuration.askpass) = (caFile, proxy, askpass)
        (configuration.audit, configuration.letsAppsKeepTokens) = (audit, letsAppsKeepTokens)
        configuration.metricsSocket = metricsSocket
        return configuration
    }

    /// The app with a name; nil if there is none.
    package func app(named name: String) -> ConfiguredApp? { apps.first { $0.name == name } }

    /// Whether a rule may have a person confirm a request.
    ///
    /// - Parameter request: the name of the request in PROTOCOL.md.
    package func confirms(_ request: String) -> Bool {
        rules.contains { rule in
            guard rule.effect == .confirm else { return false }
            switch rule.requests {
            case .all: return true
            case .named(let names, let includesOwn): return includesOwn || names.contains(request)
            }
        }
    }

    /// Whether a rule may have a person confirm any request.
    package var confirmsAnything: Bool { rules.contains { $0.effect == .confirm } }

    /// - Throws: `invalidDeveloperParameter` (-51112) if the default app is none of the apps. The agent starts nevertheless.
    package func requireDefaultApp() throws(TokenError) {
        guard let name = defaultApp, app(named: name.value) == nil else { return }
        throw TokenError(
            .invalidDeveloperParameter,
            "\(name.place): the default app “\(name.value)” does not exist; add [apps.\(ConfigurationText.key(name.value))]",
            .or(apps.first.map { "ssoctl use \($0.name)" } ?? "ssoctl init"))
    }

    private mutating func read(_ path: String, of places: ConfigurationFiles) throws(TokenError) {
        let bytes = try Self.content(of: path, among: places)
        do throws(TOMLError) {
            try add(bytes, from: path)
        } catch {
            throw error.inFile(path)
        }
        files.append(path)
    }

    /// The bytes of a file that other users cannot change or replace.
    ///
    /// - Parameter places: the configuration to which the file belongs, which has the remedy; nil for a file alone.
    static func content(of path: String, among places: ConfigurationFiles? = nil) throws(TokenError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(TrustedFileError) {
            let file = try FileDescriptor.trusted(path)
            // One byte more than the limit shows that the file is longer.
            bytes = try FileDescriptor.attempt { () throws(SystemError) in try file.readToEnd(limit: sizeLimit + 1) }
        } catch {
            let own = PrivateFiles.reading(path).map { Remedy.run($0) }
            let remedy = error.isPermissionDenied ? own ?? places?.sharing(path) : nil
            let words = remedy == nil ? places?.remedy(isPermissionDenied: error.isPermissionDenied) : nil
            throw TokenError(
                .invalidDeveloperParameter,
                "the configuration \(path) cannot be used: \(error.problem.statement)\(words ?? "")",
                remedy ?? error.problem.remedy)
        }
        guard bytes.count <= Self.sizeLimit else {
            throw TokenError(
                .invalidDeveloperParameter,
                "the configuration \(path) cannot be read: it has more than \(Self.sizeLimit) bytes; shorten it")
        }
        return bytes
    }

    /// Decodes the content of a file.
    init(decoding bytes: some Sequence<UInt8>) throws(TOMLError) {
        try add(bytes, from: "")
    }

    /// The tables with one name, but for `apps`.
    private enum TableName: String, CaseIterable {
        case network, confirmation, audit, tokens, agent, metrics, defaults
    }

    /// Adds the content of a file. Unknown tables and keys are errors, so that a misspelt name is not ignored.
    private mutating func add(_ bytes: some Sequence<UInt8>, from file: String) throws(TOMLError) {
        let document = try TOMLDocument(decoding: bytes)
        if let entry = document.entriesOfNoTable.first {
            throw TOMLError(
                entry.line, "“\(entry.key)” is in no table; put it below the line [network] or another one")
        }
        var named: [String: ConfiguredApp] = [:]
        for table in document.tables {
            if table.names[0] == "apps" {
                if table.names.count == 1, table.entries.isEmpty { continue }
                let app = try ConfiguredApp(table, file: file)
                named[app.name] = app
            } else {
                let name = try Self.tableName(table)
                for entry in table.entries { try set(entry, in: name, from: file) }
            }
        }
        apps = (apps.filter { named[$0.name] == nil } + named.values).sorted { $0.name < $1.name }
        for element in document.elements {
            guard element.name == "rule" else {
                throw TOMLError(
                    element.line, "[[\(element.name)]] is not an array of tables of the configuration; use [[rule]]")
            }
            rules.append(try PolicyRule(element))
        }
    }

    private static func tableName(_ table: TOMLDocument.Table) throws(TOMLError) -> TableName {
        // A table of one name is found without the joining of names, which is slow the first time
        // (docs/decisions/0056-what-a-start-costs.md).
        if let name = table.names.first, table.names.count == 1, let known = TableName(rawValue: name) { return known }
        let text = table.names.joined(separator: ".")
        guard text != "rule" else {
            throw TOMLError(table.line, "a rule begins with the line [[rule]]; write two pairs of brackets")
        }
        guard table.names.count == 1, !text.contains(".") else {
            throw TOMLError(
                table.line, "[\(text)] is not a table of the configuration; only [apps.NAME] has two names")
        }
        let names = TableName.allCases.map { "[\($0.rawValue)]" }.joined(separator: ", ")
        throw TOMLError(
            table.line, "[\(text)] is not a table of the configuration; use \(names), [apps.NAME] or [[rule]]")
    }

    /// Sets the value of a key.
    private mutating func set(_ entry: TOMLDocument.Entry, in table: TableName, from file: String) throws(TOMLError) {
        switch (table, entry.key) {
        case (.network, "ca_file"): caFile = Located(value: try Self.anyPath(entry), file: file, line: entry.line)
        case (.network, "proxy"): proxy = Located(value: try Self.proxy(entry), file: file, line: entry.line)
        case (.network, "allow_loopback_http"): allowsLoopbackHTTP = try entry.flag
        case (.network, _): throw Self.unknown(entry, "ca_file, proxy or allow_loopback_http")
        case (.confirmation, "askpass"): askpass = Located(value: try Self.path(entry), file: file, line: entry.line)
        case (.confirmation, _): throw Self.unknown(entry, "askpass")
        case (.audit, "destination"): audit = try Self.choice(entry)
        case (.audit, "names"): auditsNames = try entry.flag
        case (.audit, _): throw Self.unknown(entry, "destination or names")
        case (.tokens, "kept_by_apps"): letsAppsKeepTokens = try entry.flag
        case (.tokens, _): throw Self.unknown(entry, "kept_by_apps")
        case (.agent, "start_on_demand"): mayBeStartedOnDemand = try entry.flag
        case (.agent, _): throw Self.unknown(entry, "start_on_demand")
        case (.metrics, "socket"):
            let path = try Self.path(entry, example: "/run/user/1000/sso-agent-metrics/agent.sock")
            metricsSocket = Located(value: path, file: file, line: entry.line)
        case (.metrics, _): throw Self.unknown(entry, "socket")
        case (.defaults, "app"): defaultApp = Located(value: try Self.appName(entry), file: file, line: entry.line)
        case (.defaults, "account"):
            defaultAccount = Located(value: try Self.account(entry), file: file, line: entry.line)
        case (.defaults, _): throw Self.unknown(entry, "app or account")
        }
    }

    private static func unknown(_ entry: TOMLDocument.Entry, _ keys: String) -> TOMLError {
        TOMLError(entry.line, "“\(entry.key)” is not a key of [\(entry.table)]; use \(keys)")
    }

    /// The URL of a proxy. An error does not contain it, since it may have a password.
    private static func proxy(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        let url = try entry.text
        // A blank value stands for none.
        guard let trimmed = url.trimmedNonEmpty else { return url }
        do throws(ProxyPlace.Defect) { _ = try ProxyPlace(trimmed) } catch {
            throw TOMLError(entry.line, "network.proxy \(error.reason); \(error.remedy)")
        }
        return url
    }

    private static func appName(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        let name = try entry.text
        guard ConfiguredApp.isName(name) else {
            throw TOMLError(entry.line, "“\(name)” is not a name of an app; write that of a table, as in [apps.graph]")
        }
        return name
    }

    private static func account(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        guard let name = try entry.text.trimmedNonEmpty else {
            throw TOMLError(entry.line, "the account is blank; write its name, or remove the line")
        }
        return name
    }

    /// The value of a key that takes one of some names.
    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ entry: TOMLDocument.Entry
    ) throws(TOMLError) -> Choice {
        let text = try entry.text
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw TOMLError(entry.line, "“\(text)” is not a value of “\(entry.key)”; use one of \(names)")
        }
        return choice
    }

    /// The value of a key that takes the absolute path of a file.
    static func path(
        _ entry: TOMLDocument.Entry, example: String = "/usr/bin/notes"
    ) throws(TOMLError) -> String {
        let path = try anyPath(entry)
        guard path.hasPrefix("/") else {
            throw TOMLError(
                entry.line, "“\(path)” is not an absolute path; write it from the root, as in \(example)")
        }
        return path
    }

    /// The value of a key that takes a path. An escape for a control character is refused: the system would cut the path at a NUL, and
    /// messages show none of them.
    private static func anyPath(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        let path = try entry.text
        guard path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw TOMLError(entry.line, "the path of “\(entry.key)” has a control character; write it without")
        }
        return path
    }
}
