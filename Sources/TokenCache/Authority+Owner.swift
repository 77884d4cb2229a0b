internal import TokenModel

extension Authority {
    /// The realm that an account's tokens are filed under.
    ///
    /// B2C's tokens need not say which tenant issued them, and an authority names it in other words: the account tells.
    /// `organizations` is `common` to ADAL.
    func realm(for owner: OwnerID, _ version: OAuthVersion) -> String {
        if kind == .b2c, let tenant = owner.homeAccountID?.tenantID { return tenant }
        let realm = realm.lowercased()
        return version == .v1 && realm == "organizations" ? "common" : realm
    }

    /// Whether the account can be one of this authority's. B2C makes each policy an account of its own, whose object ID ends
    /// in the policy's name; the tokens of one are nothing to another.
    func admits(_ owner: OwnerID) -> Bool {
        guard kind == .b2c, let policy = policy?.lowercased(), let objectID = owner.homeAccountID?.objectID,
            objectID.utf8.count > Self.guidLength
        else { return true }
        return objectID.hasSuffix("-\(policy)")
    }

    private static let guidLength = 36
}

extension OwnerID {
    /// Whether this is a personal Microsoft account: all of them live in one tenant.
    var isPersonal: Bool { homeAccountID?.tenantID == "9188040d-6c67-4c5b-b112-36a304b66dad" }

    /// Somebody an AD FS issued a token for without saying who.
    static let unnamed = OwnerID.name("")
}
