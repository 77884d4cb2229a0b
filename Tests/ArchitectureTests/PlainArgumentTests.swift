internal import TestSupport
internal import Testing

/// `sso-agent` and `ssoctl token` have two readers of their command lines: ArgumentParser, and a quick one for what programs write.
@Suite(.bounded) struct PlainArgumentTests {
    @Test func readsEveryOptionWithoutArgumentParser() throws {
        let source = try #require(PackageTree.text("Sources/sso-agent/SSOAgent.swift"))
        let declarations = source.matches(of: #/@(?:Option|Flag)(?<names>[^@]*?)\n    var (?<property>[A-Za-z]+)/#)
        let declared = declarations.map { declaration in
            let custom = declaration.output.names.firstMatch(of: #/customLong\("([a-z-]+)"\)/#)?.output.1
            return "--" + (custom.map(String.init) ?? Self.option(declaration.output.property))
        }
        #expect(declared.count > 10)
        let plain = try #require(PackageTree.text("Sources/sso-agent/PlainArguments.swift"))
        let read = plain.matches(of: #/case "(--[a-z-]+)"/#).map { String($0.output.1) }
        #expect(read.sorted() == declared.sorted())
        // An option or a flag without a value is nil or false. The only other default has a name.
        let defaults = try #require(plain.firstMatch(of: #/self\.init\(\)(?s:(.*?))var rest/#)?.output.1)
        for declaration in declarations {
            let property = declaration.output.property
            let name = try Regex("\\b\(property)\\b")
            #expect(defaults.contains(name), "\(property)")
        }
        let values = source.matches(of: #/\n    var [A-Za-z]+(?:: [A-Za-z.]+)? = ([A-Za-z.]+)\n/#).map(\.output.1)
        #expect(Set(values) == ["false", "Self.defaultLogLevel"])
    }

    /// A property without a value would end the process when it is read, and options that are not validated would be accepted.
    @Test func setsEveryPropertyOfATokenCommandAndValidatesIt() throws {
        let plain = try #require(PackageTree.text("Sources/ssoctl/Commands/PlainToken.swift"))
        let files = ["Options.swift", "Commands/Token.swift", "Command.swift"]
        let sources = try files.map { try #require(PackageTree.text("Sources/ssoctl/\($0)")) }.joined(separator: "\n")
        let types = [
            "AppFilterOptions", "AppOptions", "ProviderOptions", "PermissionOptions", "ScopeOptions", "TargetOptions",
            "AccountOptions", "FreshnessOptions", "TokenForm", "OutputOptions", "TokenCommand",
        ]
        var validated = 0
        for type in types {
            let body = try #require(
                sources.firstMatch(of: try Regex<(Substring, Substring)>("struct \(type): (?s:(.*?))\n}"))
            ).output.1
            let properties = body.matches(of: #/@(?:Option|Flag|Argument)[^@]*?[ \n]var (?<property>[A-Za-z]+)/#)
            #expect(!properties.isEmpty, "\(type)")
            for property in properties.map(\.output.property) {
                let assigned = try Regex("[ (.]\(property)(?:, [A-Za-z.]+)*\\)? = ")
                #expect(plain.contains(assigned), "\(type).\(property)")
            }
            validated += body.contains("func validate() throws") ? 1 : 0
        }
        #expect(plain.matches(of: #/try (?:[a-z.]+\.)?validate\(\)/#).count == validated)
    }

    /// The option of a property: `logLevel` is `log-level`.
    private static func option(_ property: Substring) -> String {
        property.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
    }
}
