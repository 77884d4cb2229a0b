internal import TokenModel

/// A value that may not be stored, since no message could hold it.
struct LimitViolation: Error, Equatable {
    /// What is wrong, in words that follow the name of an entry.
    var reason: String

    /// Returns the identifier when it may be stored.
    static func checked(_ what: StaticString, _ text: String) throws(LimitViolation) -> String {
        guard ValueLimits.isIdentifier(text) else {
            throw LimitViolation(
                reason:
                    "its \(what) is longer than \(ValueLimits.identifier) bytes, or has control characters or blanks "
                    + "around it")
        }
        return text
    }

    static func check(_ token: Secret, limit: Int = ValueLimits.token) throws(LimitViolation) {
        guard token.count <= limit else { throw LimitViolation(reason: "its token is longer than \(limit) bytes") }
        guard !token.withBytes({ $0.contains { $0 < 0x20 || $0 == 0x7F } }) else {
            throw LimitViolation(reason: "its token has control characters")
        }
    }

    static func check(_ scopes: ScopeSet) throws(LimitViolation) {
        guard scopes.scopes.count <= ValueLimits.listItems else {
            throw LimitViolation(reason: "it has more than \(ValueLimits.listItems) scopes")
        }
        let isFitting =
            scopes.scopes.allSatisfy { $0.utf8.count <= ValueLimits.text && ValueLimits.isPrintable($0) }
            && scopes.target.utf8.count <= ValueLimits.longText
        guard isFitting else {
            throw LimitViolation(
                reason: "its scopes are longer than \(ValueLimits.longText) bytes, one of them is longer than "
                    + "\(ValueLimits.text) bytes, or they have control characters")
        }
    }
}
