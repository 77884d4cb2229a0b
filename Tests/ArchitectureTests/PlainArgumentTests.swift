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
        let plain = try #require(PackageTree.text("Sources/sso-agent/AgentArguments.swift"))
        let read = plain.matches(of: #/case "(--[a-z-]+)"/#).map { String($0.output.1) }
        #expect(read.sorted() == declared.sorted())
        // Both readers give each option the same value if the command line does not have it.
        let defaults = Self.defaults(in: plain[...])
        #expect(defaults == Self.defaults(in: source[...]))
        #expect(defaults.count == declared.count)
        for property in defaults.keys { #expect(source.contains("\(property): \(property)"), "\(property)") }
    }

    /// A plain command line has other defaults than ArgumentParser's only by mistake, and options that are not validated would be accepted.
    @Test func validatesEveryOptionOfATokenCommand() throws {
        let plain = try #require(PackageTree.text("Sources/ssoctl/Commands/PlainToken.swift"))
        let values = try #require(PackageTree.text("Sources/ssoctl/OptionValues.swift"))
        let validated = values.matches(of: #/\n    func validate\(/#).count
        #expect(validated == 7)
        #expect(plain.matches(of: #/try [a-z.]+\.validate\(/#).count == validated)
        // No value but what the command line gives: nil, false, or none.
        let properties = values.matches(of: #/\n    var [A-Za-z]+(?::[^=\n{]+)?(?: = (?<value>[^\n]+))?(?=\n)/#)
        #expect(properties.count > 15)
        for property in properties {
            let value = property.output.value.map(String.init)
            #expect(
                value == nil || value == "false" || value == "[]" || value?.hasSuffix("()") == true,
                "\(property.output.0)")
        }
    }

    /// The properties with their values; `nil` is that of an optional.
    private static func defaults(in source: Substring) -> [String: String] {
        let properties = source.matches(
            of: #/\n    var (?<name>[A-Za-z0-9]+)(?<type>: [A-Za-z0-9.]+\??)?(?: = (?<value>[A-Za-z.]+))?(?=\n)/#)
        return Dictionary(
            uniqueKeysWithValues: properties.map { property in
                let value = property.output.value?.split(separator: ".").last ?? "nil"
                return (String(property.output.name), String(value))
            })
    }

    /// The option of a property: `logLevel` is `log-level`.
    private static func option(_ property: Substring) -> String {
        property.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
    }
}
