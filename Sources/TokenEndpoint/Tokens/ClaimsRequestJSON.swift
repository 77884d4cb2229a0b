internal import TokenModel

/// A claims request as JSON (OpenID Connect Core 1.0 section 5.5).
package struct ClaimsRequestJSON: Sendable {
    private let request: JSONTree

    /// Returns nil if the text is neither a JSON object nor blank, as that of an empty request may be.
    package init?(_ json: String) {
        guard json.trimmedNonEmpty != nil else {
            request = .object([])
            return
        }
        guard let request = try? JSONReader.read(Array(json.utf8), maximumValues: JSONReader.valuesOfMessage),
            request.isObject
        else { return nil }
        self.request = request
    }

    /// The request with the client capabilities as `access_token.xms_cc.values`.
    package func adding(capabilities: [String]) -> String {
        let values = JSONTree.object([]).setting("values", to: .list(capabilities.map { .text($0) }))
        let accessToken = (request["access_token"] ?? .null).setting("xms_cc", to: values)
        return request.setting("access_token", to: accessToken).sorted.json
    }
}

extension JSONTree {
    /// The object with `value` as its only member with the name; anything but an object counts as an empty one.
    fileprivate func setting(_ name: String, to value: JSONTree) -> JSONTree {
        .object(members.filter { $0.name != name } + [Member(name: name, value: value)])
    }
}
