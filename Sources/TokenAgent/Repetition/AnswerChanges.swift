internal import TokenCache
internal import TokenModel

/// The answers to silent requests that a change could alter.
enum AlteredAnswers: Equatable {
    /// Answers for these accounts, under any of their issuers, and answers to requests of the sharing group that do not identify
    /// their account.
    case ofAccounts(Set<HomeAccountID>, in: SharingGroup)
    /// Every answer to a request of the sharing group.
    case ofGroup(SharingGroup)
    /// Answers to requests whose authority has this host.
    case ofHost(String)
    case all

    init(_ changes: [CacheChange], in group: SharingGroup) {
        var accounts: Set<HomeAccountID> = []
        for change in changes {
            switch change {
            // An account that is known by its username only answers no request by identifier, and records of apps decide about
            // refresh tokens only.
            case .save(let record): if let account = record.header.account?.homeAccountID { accounts.insert(account) }
            case .remove(_, let account): if let account = account?.homeAccountID { accounts.insert(account) }
            case .removeEverything:
                self = .ofGroup(group)
                return
            }
        }
        self = .ofAccounts(accounts, in: group)
    }
}

/// The one list of what ends kept answers: whoever changes what an answer depends on calls `end`, in the same turn of the event loop,
/// and so before anybody is told of the change.
///
/// | change | by |
/// |---|---|
/// | records: a save, a refusal by the token endpoint | `CacheMemory.apply` |
/// | a removal, a sign-out | `CacheMemory.begin`, and again when a change brings a record back (`repeatRemovals`) |
/// | the cache as a whole: loading, an import | `CacheMemory.replace` |
/// | locking: requests are not answered from the cache any more | `StoreLifecycle`, then `CacheMemory.removeEverything` |
/// | learnt clouds | `CacheMemory.learn` |
/// | a host is known as no authority | `AuthorityResolver` |
/// | the rules of the access policy, and the other settings that a reload changes | `CacheOwner.reload` |
///
/// Used on the actor of `CacheOwner` only.
final class AnswerChanges {
    private let replies: KeptReplies
    /// The page that apps have; nil if they keep nothing.
    private(set) var page: GenerationPage?

    init(_ replies: KeptReplies) {
        self.replies = replies
    }

    /// Sets the page through which apps are told of changes.
    func share(_ page: GenerationPage?) { self.page = page }

    /// Discards the kept replies, and ends the results that apps keep.
    func end(_ answers: AlteredAnswers) {
        replies.discard(answers)
        page?.end(answers)
    }
}
