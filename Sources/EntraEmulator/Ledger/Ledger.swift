internal import Foundation

/// The users, codes and tokens the emulator has issued, and the rules for redeeming them.
///
/// The rules use no clock, lock or network: the time is part of each ``Redemption``.
struct Ledger: Sendable {
    let directory: Directory
    private(set) var users: [User] = []
    var codes = IssuedSecrets<AuthorizationCode>(limit: 10_000)
    var pushedRequests = IssuedSecrets<PushedRequest>(limit: 10_000)
    var refreshTokens = IssuedSecrets<RefreshToken>(limit: 100_000)
    var deviceCodes = IssuedSecrets<DeviceCode>(limit: 10_000)
    /// The access tokens by their identifiers (`uti`).
    private(set) var accessTokens = IssuedSecrets<AccessToken>(limit: 100_000)
    private var serial = 0

    init(directory: Directory, usernames: [String]) {
        self.directory = directory
        for username in usernames { addUser(username) }
    }

    /// A new secret; each run with the same seed has the same sequence.
    ///
    /// - Parameter owner: whom the secret is issued to. Secrets of different owners differ, so that a secret from before a restart or a reset
    ///   never stands for another user afterwards.
    mutating func nextSecret(_ kind: String, for owner: [String] = []) -> String {
        serial += 1
        return directory.secret([kind, String(serial)] + owner.map { $0.lowercased() })
    }

    /// A new GUID; each run with the same seed has the same sequence.
    mutating func nextGUID(_ kind: String) -> String {
        serial += 1
        return directory.guid(kind, String(serial))
    }

    /// Registers a new access token and returns its identifier (`uti`).
    mutating func nextTokenID(for user: User) -> String {
        let tokenID = nextSecret("uti", for: [user.username])
        accessTokens.issue(AccessToken(username: user.username), as: tokenID) { $0.revokedOn != nil }
        return tokenID
    }

    /// Returns the user with this name, and creates it if it does not exist.
    @discardableResult
    mutating func addUser(_ username: String) -> User {
        if let known = users.first(where: { $0.matches(username) }) { return known }
        let user = directory.user(username: username)
        users.append(user)
        return user
    }

    mutating func setDisabled(_ isDisabled: Bool, username: String) {
        addUser(username)
        for index in users.indices where users[index].matches(username) {
            users[index].isDisabled = isDisabled
        }
    }

    /// The users who can sign in at a realm: personal accounts at `consumers`, work accounts at `organizations`.
    func candidates(at realm: String) -> [User] {
        users.filter { $0.isAdmitted(to: realm) }
    }

    /// The tenant that issues tokens for this user at a realm: the realm's own, in which the user may be a guest, or the home
    /// tenant if the realm names none.
    ///
    /// - Throws: `userNotInTenant` if the realm does not admit this kind of account.
    func tenantID(of user: User, at realm: String) throws(OAuthFailure) -> String {
        guard user.isAdmitted(to: realm) else { throw .userNotInTenant }
        return directory.tenantID(realm: realm) ?? user.homeTenantID
    }

    /// Revokes the tokens of one user or, with nil, of all users.
    ///
    /// - Returns: the number of refresh tokens that are refused now, and were valid before.
    mutating func revokeTokens(username: String?, _ effect: RefreshTokenRevocation, now: Date) -> Int {
        _ = accessTokens.update { token in
            guard token.revokedOn == nil, username == nil || token.username.lowercased() == username?.lowercased()
            else { return false }
            token.revokedOn = now
            return true
        }
        return refreshTokens.update { token in
            guard !token.isSpent, username.map(token.user.matches) ?? true else { return false }
            switch effect {
            case .valid: return false
            case .revoked: token.isRevoked = true
            case .interactionRequired:
                guard !token.needsSignIn else { return false }
                token.needsSignIn = true
            }
            return true
        }
    }
}

/// An issued access token.
struct AccessToken: Sendable {
    let username: String
    /// The time of its revocation; nil if it has not been revoked.
    var revokedOn: Date?
}
