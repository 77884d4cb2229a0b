internal import Foundation

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
