/// Which accounts to list; every criterion given has to fit, without regard to case.
open class MSALAccountEnumerationParameters: MSALParameters {
    /// The account's identifier.
    public let identifier: String?
    /// The account's object id in some tenant.
    public let tenantProfileIdentifier: String?
    /// The account's name.
    public let username: String?
    /// Whether to list only accounts that this app, or its family, can get tokens for silently and has not signed out
    /// of. True unless set.
    open var returnOnlySignedInAccounts = true

    /// Every account.
    public override init() {
        (identifier, tenantProfileIdentifier, username) = (nil, nil, nil)
    }

    /// The account with this identifier.
    public init(identifier accountIdentifier: String) {
        (identifier, tenantProfileIdentifier, username) = (accountIdentifier, nil, nil)
    }

    /// The accounts with this name, and this identifier where one is given.
    public init(identifier accountIdentifier: String?, username: String) {
        (identifier, tenantProfileIdentifier, self.username) = (accountIdentifier, nil, username)
    }

    /// The accounts with this object id in some tenant.
    public init(tenantProfileIdentifier: String) {
        (identifier, self.tenantProfileIdentifier, username) = (nil, tenantProfileIdentifier, nil)
    }

    init(_ filter: AccountFilter) {
        (identifier, tenantProfileIdentifier, username) =
            (filter.identifier, filter.tenantProfileIdentifier, filter.username)
        super.init()
        returnOnlySignedInAccounts = filter.onlySignedIn
    }
}
