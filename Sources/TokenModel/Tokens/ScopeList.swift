/// The scopes that a user writes, on a command line or in the configuration.
package enum ScopeList {
    /// Splits texts at blanks and commas.
    package static func split(_ texts: [String]) -> [String] {
        ScopeSet(texts.flatMap { ScopeSet(target: $0.replacing(",", with: " ")).scopes }).scopes
    }

    /// The first scope with a character that no scope has (RFC 6749 section 3.3); nil if there is none.
    package static func invalid(in scopes: [String]) -> String? {
        scopes.first { scope in
            !scope.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        }
    }

    /// The resources of scopes of Entra ID, of which a request may have one: the URL or the ID before the permission. A permission
    /// alone is one of Microsoft Graph.
    package static func resources(_ scopes: [String]) -> [String] {
        var resources: [String] = []
        for scope in scopes {
            guard let resource = resource(of: scope), !resources.contains(where: { isSame($0, resource) }) else {
                continue
            }
            resources.append(resource)
        }
        return resources
    }

    private static let graph = "https://graph.microsoft.com"

    private static func resource(of scope: String) -> String? {
        if ScopeSet.ofNoResource.contains(scope) { return nil }
        guard let slash = scope.lastIndex(of: "/") else { return graph }
        let resource = scope[..<slash]
        // `https://graph.microsoft.com` alone, and scopes of other forms, are left to the provider.
        return resource.isEmpty || resource.hasSuffix(":/") ? nil : String(resource)
    }

    /// Entra ID takes a resource with and without the slash at its end for the same, and Graph's ID for its URL.
    private static func isSame(_ left: String, _ right: String) -> Bool { normalised(left) == normalised(right) }

    private static func normalised(_ resource: String) -> String {
        let text = resource.lowercased()
        let plain = text.hasSuffix("/") ? String(text.dropLast()) : text
        return plain == "00000003-0000-0000-c000-000000000000" ? graph : plain
    }
}
