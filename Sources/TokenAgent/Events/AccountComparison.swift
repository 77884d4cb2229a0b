internal import AccessPolicy
internal import TokenCache
internal import TokenModel

/// What feeds list of an account at one time; one for all feeds of a sharing group.
///
/// Used on the actor of `CacheOwner` only.
final class ListedAccount {
    let survey: AccountSurvey
    /// The account as each published socket shows it, by the socket's number; nil if the socket does not serve it.
    private var published: [UInt64: Account?] = [:]

    init(_ survey: AccountSurvey) { self.survey = survey }

    /// The account as a socket shows it; nil if the socket does not serve it.
    ///
    /// - Parameters:
    ///   - publication: the published socket; nil for the agent's own.
    ///   - cache: the cache that was surveyed, as it was.
    func account(through publication: Publication?, in cache: CredentialCache) -> Account? {
        guard let publication, let account = survey.account else { return survey.account }
        if let known = published[publication.id] { return known }
        let isServed = publication.serves(survey.key, in: cache)
        let visible = isServed ? publication.rules.visible([account]).first : nil
        published.updateValue(visible, forKey: publication.id)
        return visible
    }
}

/// Compares what feeds list of an account after changes with what they listed before. What many feeds have in common is compared once.
///
/// Used on the actor of `CacheOwner` only.
final class AccountComparison {
    /// An account as it was listed before, at a socket.
    private struct Place: Hashable {
        var earlier: ObjectIdentifier
        var socket: UInt64?
    }

    let present: ListedAccount
    /// The results; each has the account that identifies it, which so stays in memory.
    private var results: [Place: (earlier: ListedAccount, isChanged: Bool)] = [:]

    init(_ present: ListedAccount) { self.present = present }

    /// Whether a socket shows the account otherwise than before.
    ///
    /// - Parameters:
    ///   - account: the account as it is shown now.
    ///   - former: the account as it was shown.
    ///   - earlier: what `former` is from.
    ///   - socket: the number of the published socket; nil for the agent's own.
    func hasChanged(_ account: Account, from former: Account, of earlier: ListedAccount, at socket: UInt64?) -> Bool {
        let place = Place(earlier: ObjectIdentifier(earlier), socket: socket)
        if let known = results[place] { return known.isChanged }
        let isChanged = account != former
        results[place] = (earlier, isChanged)
        return isChanged
    }
}
