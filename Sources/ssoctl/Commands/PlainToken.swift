internal import ArgumentParser
internal import TokenModel

extension TokenCommand {
    /// Reads a command line whose options are written in full, each with its value as the next argument, as scripts write them.
    ///
    /// Sets every property: reading one without a value would end the process.
    ///
    /// ArgumentParser needs a third of the processor time of `ssoctl token`, which programs run before each of their requests. It reads
    /// every other command line, and reports what is wrong.
    ///
    /// - Returns: nil for any other command line.
    init?(plain arguments: some Sequence<String>) {
        guard let words = PlainWords(arguments) else { return nil }
        self.init()
        target = TargetOptions(words)
        account = AccountOptions(words)
        freshness = FreshnessOptions(words)
        form = TokenForm(words)
        output = OutputOptions()
        output.json = words.has("--json")
        do {
            try target.app.options.validate()
            try target.app.validate()
            try target.token.permissions.validate()
            try target.provider.validate()
            try target.validate()
            try account.validate()
            try freshness.validate()
            try validate()
        } catch {
            return nil
        }
    }
}

/// The words of a plain command line of `ssoctl token`.
private struct PlainWords {
    private(set) var app: String?
    private(set) var clientID: ClientID?
    private(set) var group: SharingGroup?
    private(set) var scopes: [String] = []
    private(set) var minimumValidity: Int64?
    private var texts: [String: String] = [:]
    private var flags: Set<String> = []

    /// Returns nil if there is an option that is not one of these, is repeated, has no value, or a value of another form.
    init?(_ arguments: some Sequence<String>) {
        var rest = arguments.makeIterator()
        while let word = rest.next() {
            guard word.hasPrefix("-") else {
                guard app == nil else { return nil }
                app = word
                continue
            }
            if Self.flags.contains(word) {
                guard flags.insert(word).inserted else { return nil }
            } else {
                guard let value = rest.next(), !value.hasPrefix("-"), set(word, to: value) else { return nil }
            }
        }
    }

    /// Returns false if there is no such option, it is repeated, or the value has not its form.
    private mutating func set(_ option: String, to value: String) -> Bool {
        switch option {
        case "--scope", "-s":
            scopes.append(value)
            return true
        case "--client-id" where clientID == nil:
            clientID = ClientID(value)
            return clientID != nil
        case "--group" where group == nil:
            group = SharingGroup(value)
            return group != nil
        case "--min-valid" where minimumValidity == nil:
            minimumValidity = Int64(value)
            return minimumValidity != nil
        default: return Self.texts.contains(option) && texts.updateValue(value, forKey: option) == nil
        }
    }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    func text(_ option: String) -> String? { texts[option] }

    private static let flags: Set = ["--force-refresh", "--id-token", "--decode", "--header", "--json"]
    private static let texts: Set = ["--app", "--resource", "--authority", "--account", "--username", "--output"]
}

extension TargetOptions {
    fileprivate init(_ words: PlainWords) {
        self.init()
        var filter = AppFilterOptions()
        (filter.name, filter.clientID, filter.group) = (words.text("--app"), words.clientID, words.group)
        app = AppOptions()
        (app.name, app.options) = (words.app, filter)
        var permissions = PermissionOptions()
        (permissions.scope, permissions.resource) = (words.scopes, words.text("--resource"))
        token = ScopeOptions()
        token.permissions = permissions
        (token.claims, token.redirectURI) = (nil, nil)
        provider = ProviderOptions()
        (provider.authority, provider.kind) = (words.text("--authority"), nil)
        (provider.tenant, provider.cloud) = (nil, nil)
    }
}

extension AccountOptions {
    fileprivate init(_ words: PlainWords) {
        self.init()
        (identifier, username) = (words.text("--account"), words.text("--username"))
    }
}

extension FreshnessOptions {
    fileprivate init(_ words: PlainWords) {
        self.init()
        (forceRefresh, minimumValidity) = (words.has("--force-refresh"), words.minimumValidity)
    }
}

extension TokenForm {
    fileprivate init(_ words: PlainWords) {
        self.init()
        (isIDToken, decodes) = (words.has("--id-token"), words.has("--decode"))
        (isHeader, file) = (words.has("--header"), words.text("--output"))
    }
}
