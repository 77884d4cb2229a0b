package import TokenModel
internal import TokenStore

/// What lists show of one account at one time, without any token, and what decides which lists have it. Two surveys of an account are
/// compared to find what has changed.
///
/// A survey is made once for all lists of a sharing group, however many apps watch theirs.
package final class AccountSurvey: Sendable {
    package let key: AccountKey
    /// The account with its tenant profiles, as every list shows it that has it; nil if no list has it.
    package let account: Account?
    /// Whether there are account records of the account.
    private let isDescribed: Bool
    fileprivate let apps: AppsOfAccount
    /// The apps of the accounts with an identifier that may be this one, which is known by its username only.
    fileprivate let namesakes: [AppsOfAccount]

    fileprivate init(
        _ key: AccountKey, _ account: Account?, isDescribed: Bool, _ apps: AppsOfAccount, namesakes: [AppsOfAccount]
    ) {
        self.key = key
        self.account = account
        self.isDescribed = isDescribed
        self.apps = apps
        self.namesakes = namesakes
    }

    /// Whether an app has signed out of the account, of which there are account records, listed or not.
    package func hasSignedOut(_ clientID: ClientID) -> Bool { isDescribed && apps.hasSignedOut(clientID) }

    /// The apps that have signed out since an earlier survey.
    package func signOuts(since earlier: AccountSurvey) -> [ClientID] {
        apps.states.filter { $0.value.isSignedOut && earlier.apps.states[$0.key]?.isSignedOut == false }
            .sorted { $0.key < $1.key }.map(\.value.clientID)
    }

    /// Whether an app has signed in since an earlier survey.
    package func hasSignIns(since earlier: AccountSurvey) -> Bool {
        apps.states.contains { !$0.value.isSignedOut && earlier.apps.states[$0.key] != $0.value }
    }
}

/// The apps that have signed in to an account or out of it, and those that have refresh tokens of it.
private struct AppsOfAccount: Sendable {
    struct State: Sendable, Equatable {
        var clientID: ClientID
        var isSignedOut: Bool
    }

    /// A refresh token that a family of apps shares.
    struct FamilyToken: Sendable, Hashable {
        var family: FamilyID
        var environment: ExactText
    }

    /// The recorded states, by `ClientID.key`.
    private(set) var states = RecordMap<State>()
    /// The apps that have refresh tokens of their own.
    private(set) var holders: Set<ClientID> = []
    private(set) var familyTokens: Set<FamilyToken> = []

    init(_ credentials: AccountCredentials) {
        for (key, metadata) in credentials.metadata {
            guard let clientID = ClientID(metadata.clientID) else { continue }
            states[key] = State(clientID: clientID, isSignedOut: metadata.signInState == .signedOut)
        }
        for token in credentials.refreshTokens.values {
            if let family = token.familyID {
                familyTokens.insert(FamilyToken(family: family, environment: ExactText(token.environment)))
            } else {
                holders.insert(token.clientID)
            }
        }
    }

    func hasSignedOut(_ clientID: ClientID) -> Bool { states[clientID.key]?.isSignedOut == true }
}

extension CredentialCache {
    /// Surveys an account, listed or not.
    package func survey(_ key: AccountKey, in group: SharingGroup) -> AccountSurvey {
        let partition = partition(group)
        let credentials = partition.records(of: key, AffectedAccounts.kinds)
        let profiles = credentials.accounts.values.map(ListedProfile.init).inListOrder
        var account = key.isUnnamed ? nil : profiles.first?.account(key)
        account?.tenantProfiles = profiles.withoutRepeatedRealms.map(\.profile)
        var namesakes: [AppsOfAccount] = []
        if account != nil {
            let environments = Set(profiles.map(\.environment))
            forEachNamesake(of: key, in: partition) { other in
                if mayBe(other, anAccountAt: environments, in: partition) {
                    namesakes.append(AppsOfAccount(partition.records(of: other, AffectedAccounts.kinds)))
                }
                return true
            }
        }
        return AccountSurvey(
            key, account, isDescribed: !profiles.isEmpty, AppsOfAccount(credentials), namesakes: namesakes)
    }

    /// Whether the list of an app, or of all apps, has an account: the same as `accounts(_:_:where:)` finds.
    ///
    /// - Parameters:
    ///   - survey: a survey of this cache, as it is now.
    ///   - clientID: the app; nil for the list of all apps.
    ///   - isConfined: see `ListAccounts.isConfined`.
    package func lists(
        _ survey: AccountSurvey, for clientID: ClientID?, in group: SharingGroup, isConfined: Bool
    ) -> Bool {
        guard survey.account != nil else { return false }
        guard let clientID else { return survey.namesakes.isEmpty }
        let partition = partition(group)
        return isListed(survey.apps, for: clientID, in: partition, isConfined: isConfined)
            && !survey.namesakes.contains {
                $0.hasSignedOut(clientID) || isListed($0, for: clientID, in: partition, isConfined: isConfined)
            }
    }

    /// MSAL's rule, as `isListed` has it for credentials, of which a list of 10,000 accounts makes no summary.
    private func isListed(
        _ apps: AppsOfAccount, for clientID: ClientID, in partition: Partition, isConfined: Bool
    ) -> Bool {
        if let state = apps.states[clientID.key] { return !state.isSignedOut }
        return apps.holders.contains(clientID)
            || apps.familyTokens.contains {
                $0.family == family(of: clientID, at: $0.environment.text, in: partition, isConfined: isConfined)
            }
    }
}
