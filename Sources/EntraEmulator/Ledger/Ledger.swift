internal import Foundation

/// Who may redeem what: users, codes and refresh tokens. Plain rules without clock, lock or network.
struct Ledger: Sendable {
    let directory: Directory
    private(set) var users: [User] = []
    var codes: [String: AuthorizationCode] = [:]
    var refreshTokens: [String: RefreshToken] = [:]
    var deviceCodes: [String: DeviceCode] = [:]
    /// Username by identifier (`uti`) of each access token that was not revoked.
    private(set) var accessTokens: [String: String] = [:]
    private var serial = 0

    init(directory: Directory, usernames: [String]) {
        self.directory = directory
        for username in usernames { addUser(username) }
    }

    /// A secret that was never given before, the same in each run with the same seed.
    mutating func nextSecret(_ kind: String) -> String {
        serial += 1
        return directory.secret(kind, String(serial))
    }

    mutating func nextGUID(_ kind: String) -> String {
        serial += 1
        return directory.guid(kind, String(serial))
    }

    /// The identifier of an access token that is about to be written.
    mutating func nextTokenID(for user: User) -> String {
        let tokenID = nextSecret("uti")
        accessTokens[tokenID] = user.username
        return tokenID
    }

    /// The user of that name, made up if need be.
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

    /// Users who can sign in at a realm: personal accounts at `consumers`, work accounts at `organizations`.
    func candidates(at realm: String) -> [User] {
        users.filter { $0.isAdmitted(to: realm) }
    }

    /// The tenant that tokens for this user come from when a realm was asked.
    ///
    /// A user of another tenant is a guest there from then on.
    func tenantID(of user: User, at realm: String) throws(OAuthFailure) -> String {
        guard user.isAdmitted(to: realm) else { throw .userNotInTenant }
        return directory.tenantID(realm: realm) ?? user.homeTenantID
    }

    /// Revokes the tokens of a user, or everybody's; returns how many refresh tokens were live.
    mutating func revokeTokens(username: String?) -> Int {
        accessTokens = accessTokens.filter { username != nil && $0.value.lowercased() != username?.lowercased() }
        var count = 0
        for (secret, token) in refreshTokens
        where !token.isRevoked && !token.isReplaced && (username.map(token.user.matches) ?? true) {
            refreshTokens[secret]?.isRevoked = true
            count += 1
        }
        return count
    }
}
