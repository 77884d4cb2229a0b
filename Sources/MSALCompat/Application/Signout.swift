internal import TokenModel

/// A sign-out as a value: what to remove, whom to tell, and which page ends the browser's session.
///
/// Unchecked for the one object in it, the account for external account providers, which never changes.
struct Signout: @unchecked Sendable {
    let request: RemoveAccount
    let account: MSALAccount
    let wipesAccount: Bool
    /// Nil leaves the browser alone.
    let page: String?
}
