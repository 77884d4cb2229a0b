internal import Foundation
internal import TokenModel

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

/// The errors of a lookup that finds no account. They are not MSAL errors, because the originals' are not.
enum AccountLookupError {
    /// There is no such account: what Swift makes of a method of Apple's that returns nil and no error, same domain
    /// and code. Test for it with `try?`.
    static func notFound(_ what: String) -> NSError {
        NSError(
            domain: "Foundation._GenericObjCError", code: 0,
            userInfo: [NSLocalizedDescriptionKey: "no account of this app has the \(what)"])
    }

    /// The username is blank; MSAL hands out its inner error as it is.
    static var blankUsername: NSError {
        NSError(
            domain: "MSIDErrorDomain", code: -51111,
            userInfo: [NSLocalizedDescriptionKey: "the username is blank"])
    }

    /// There is no such claim to remove; the same kind of error as `notFound`.
    static func noSuchClaim(_ name: String) -> NSError {
        NSError(
            domain: "Foundation._GenericObjCError", code: 0,
            userInfo: [NSLocalizedDescriptionKey: "the claim \(name) was not requested"])
    }
}
