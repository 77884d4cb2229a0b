internal import Foundation
internal import TokenModel

/// Criteria for a list of accounts. An account has to match every criterion that is given, without regard to case. A blank
/// one is ignored beside another; if all that are given are blank, no account matches.
open class MSALAccountEnumerationParameters: MSALParameters {
    /// The account's identifier.
    public let identifier: String?
    /// The object ID of the account in some tenant.
    public let tenantProfileIdentifier: String?
    /// The username of the account.
    public let username: String?
    /// Whether to list only accounts that are signed in to this app or its family, and so can get tokens silently. True
    /// by default.
    open var returnOnlySignedInAccounts = true

    /// Matches every account.
    public override init() {
        (identifier, tenantProfileIdentifier, username) = (nil, nil, nil)
    }

    /// Matches the account with this identifier.
    public init(identifier accountIdentifier: String) {
        (identifier, tenantProfileIdentifier, username) = (accountIdentifier, nil, nil)
    }

    /// Matches the accounts with this username, and with this identifier if it is given.
    public init(identifier accountIdentifier: String?, username: String) {
        (identifier, tenantProfileIdentifier, self.username) = (accountIdentifier, nil, username)
    }

    /// Matches the accounts with this object ID in some tenant.
    public init(tenantProfileIdentifier: String) {
        (identifier, self.tenantProfileIdentifier, username) = (nil, tenantProfileIdentifier, nil)
    }

    /// The criteria, for logs; the username is hidden.
    open override var description: String {
        "Account identifier \(identifier ?? "(null)"), username \(username == nil ? "(null)" : "(hidden)"), "
            + "tenant profile identifier \(tenantProfileIdentifier ?? "(null)"), "
            + "return only signed in accounts \(returnOnlySignedInAccounts ? 1 : 0)"
    }

    init(_ filter: AccountFilter) {
        (identifier, tenantProfileIdentifier, username) =
            (filter.identifier, filter.tenantProfileIdentifier, filter.username)
        super.init()
        returnOnlySignedInAccounts = filter.onlySignedIn
    }
}

/// The criteria of `MSALAccountEnumerationParameters` as a value, which can be passed to another thread.
struct AccountFilter: Sendable, Equatable {
    var identifier: String?
    var tenantProfileIdentifier: String?
    var username: String?
    var onlySignedIn = true

    /// Matches every account that is signed in.
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

    /// Whether criteria were given and all are blank. Then no account matches, because a blank name must not match
    /// every account.
    private(set) var isUnsatisfiable = false
}
