internal import TokenModel

extension TokenWork {
    /// Reads a command line whose options are written in full, each with its value as the next argument, as scripts write them.
    ///
    /// With ArgumentParser, `ssoctl token` takes six times the instructions, and programs run it before each of their requests.
    /// ArgumentParser reads every other command line, and reports what is wrong.
    ///
    /// - Returns: nil for any other command line.
    init?(plain arguments: some Sequence<String>) {
        self.init()
        var rest = arguments.makeIterator()
        while let word = rest.next() {
            if !word.hasPrefix("-") {
                guard Self.fill(&target.app.argument, word) else { return nil }
            } else if !raise(word) {
                guard let value = rest.next(), !value.hasPrefix("-"), set(word, to: value) else { return nil }
            }
        }
        do {
            try target.app.validate()
            try target.permissions.validate()
            try target.provider.validate()
            try target.validate()
            try account.validate()
            try freshness.validate()
            try form.validate(isJSON: isJSON)
        } catch {
            return nil
        }
    }

    /// Returns false if there is no such flag, or it is repeated.
    private mutating func raise(_ flag: String) -> Bool {
        switch flag {
        case "--force-refresh": Self.raise(&freshness.forceRefresh)
        case "--id-token": Self.raise(&form.isIDToken)
        case "--decode": Self.raise(&form.decodes)
        case "--header": Self.raise(&form.isHeader)
        case "--json": Self.raise(&isJSON)
        default: false
        }
    }

    /// Returns false if there is no such option, it is repeated, or the value has not its form.
    private mutating func set(_ option: String, to value: String) -> Bool {
        switch option {
        case "--scope", "-s":
            target.permissions.scope.append(value)
            return true
        case "--resource": return Self.fill(&target.permissions.resource, value)
        case "--authority": return Self.fill(&target.provider.authority, value)
        case "--app": return Self.fill(&target.app.option, value)
        case "--client-id": return Self.fill(&target.app.clientID, ClientID(value))
        case "--group": return Self.fill(&target.app.group, SharingGroup(value))
        case "--account": return Self.fill(&account.identifier, value)
        case "--username": return Self.fill(&account.username, value)
        case "--min-valid": return Self.fill(&freshness.minimumValidity, Int64(value))
        case "--output": return Self.fill(&form.file, value)
        default: return false
        }
    }

    private static func raise(_ flag: inout Bool) -> Bool {
        defer { flag = true }
        return !flag
    }

    private static func fill<Value>(_ place: inout Value?, _ value: Value?) -> Bool {
        guard place == nil, let value else { return false }
        place = value
        return true
    }
}
