internal import TokenModel

/// `MSALAccountEnumerationParameters` as a value, so that it can cross to another thread.
struct AccountFilter: Sendable, Equatable {
    var identifier: String?
    var tenantProfileIdentifier: String?
    var username: String?
    var onlySignedIn = true

    /// Every signed-in account.
    init() {}

    init(_ parameters: MSALAccountEnumerationParameters) {
        identifier = parameters.identifier?.trimmedNonEmpty
        tenantProfileIdentifier = parameters.tenantProfileIdentifier?.trimmedNonEmpty
        username = parameters.username?.trimmedNonEmpty
        onlySignedIn = parameters.returnOnlySignedInAccounts
        isUnsatisfiable =
            (parameters.identifier != nil || parameters.tenantProfileIdentifier != nil || parameters.username != nil)
            && identifier == nil && tenantProfileIdentifier == nil && username == nil
    }

    /// Whether criteria were given and all are blank. Nobody fits: a blank name must not mean everybody.
    private(set) var isUnsatisfiable = false
}
