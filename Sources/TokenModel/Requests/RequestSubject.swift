/// What a request reaches: the app and the sharing group that it names, and whether it is limited to that app.
///
/// The access policy decides by it; see `PeerPolicy`. Every request states it, so that a new one cannot be forgotten.
package struct RequestSubject: Sendable, Equatable {
    /// The app that the request names; nil if it names none.
    package var clientID: ClientID?
    /// The sharing group that the request names; nil if it names none.
    package var sharingGroup: SharingGroup?
    /// Whether the request neither returns nor removes what belongs to another app.
    package var isLimitedToApp: Bool
    /// Whether the request is a later part of an import, an export or a subscription to events that its connection has begun.
    package var isContinuation: Bool
    /// The identifier of the sign-in that the request names; nil if it names none. The agent adds the app and the sharing group of the
    /// sign-in.
    package var signIn: String?

    package init(
        clientID: ClientID? = nil, sharingGroup: SharingGroup? = nil, isLimitedToApp: Bool,
        isContinuation: Bool = false, signIn: String? = nil
    ) {
        self.clientID = clientID
        self.sharingGroup = sharingGroup
        self.isLimitedToApp = isLimitedToApp
        self.isContinuation = isContinuation
        self.signIn = signIn
    }

    /// The subject of a request for tokens.
    fileprivate init(_ parameters: TokenParameters) {
        self.init(clientID: parameters.clientID, sharingGroup: parameters.sharingGroup, isLimitedToApp: true)
    }

    /// The subject of a request that reaches the tokens of a sign-in, whose unguessable identifier it names.
    fileprivate static func ownSession(_ signIn: String) -> RequestSubject {
        RequestSubject(isLimitedToApp: true, signIn: signIn)
    }

    /// The subject of a request that reaches every app.
    fileprivate static func everyApp(_ group: SharingGroup? = nil) -> RequestSubject {
        RequestSubject(sharingGroup: group, isLimitedToApp: false)
    }
}

/// Reaches no tokens.
extension Hello { package var subject: RequestSubject { RequestSubject(isLimitedToApp: true) } }
extension AcquireTokenSilent { package var subject: RequestSubject { RequestSubject(parameters) } }
extension BeginInteractive { package var subject: RequestSubject { RequestSubject(parameters) } }
extension CompleteInteractive { package var subject: RequestSubject { .ownSession(sessionID) } }
extension BeginDeviceCode { package var subject: RequestSubject { RequestSubject(parameters) } }
extension CompleteDeviceCode { package var subject: RequestSubject { .ownSession(sessionID) } }
extension CancelInteraction { package var subject: RequestSubject { .ownSession(sessionID) } }
extension RedeemGrant { package var subject: RequestSubject { RequestSubject(parameters) } }

extension ListAccounts {
    /// A list that is not limited to signed-in accounts has accounts of other apps.
    package var subject: RequestSubject {
        RequestSubject(
            clientID: clientID, sharingGroup: sharingGroup, isLimitedToApp: clientID != nil && onlySignedIn)
    }
}

extension GetCurrentAccount {
    package var subject: RequestSubject {
        RequestSubject(clientID: clientID, sharingGroup: sharingGroup, isLimitedToApp: true)
    }
}

extension RemoveAccount {
    package var subject: RequestSubject {
        RequestSubject(clientID: clientID, sharingGroup: sharingGroup, isLimitedToApp: extent == .app)
    }
}

extension WatchEvents {
    /// The events without a client ID are about the accounts of every app. A later request is part of what was allowed with the first one
    /// on the connection.
    package var subject: RequestSubject {
        RequestSubject(
            clientID: clientID, sharingGroup: sharingGroup, isLimitedToApp: clientID != nil,
            isContinuation: position != nil)
    }
}

extension GetStatus { package var subject: RequestSubject { .everyApp() } }
extension Diagnose { package var subject: RequestSubject { .everyApp() } }
extension ReloadConfiguration { package var subject: RequestSubject { .everyApp() } }
extension ListCredentials { package var subject: RequestSubject { .everyApp(sharingGroup) } }
extension RemoveCredential { package var subject: RequestSubject { .everyApp(sharingGroup) } }

extension ImportCache {
    package var subject: RequestSubject {
        RequestSubject(sharingGroup: sharingGroup, isLimitedToApp: false, isContinuation: importID != nil)
    }
}

extension ExportCache {
    package var subject: RequestSubject {
        RequestSubject(sharingGroup: sharingGroup, isLimitedToApp: false, isContinuation: exportID != nil)
    }
}

extension GetKey { package var subject: RequestSubject { .everyApp() } }
extension SetKey { package var subject: RequestSubject { .everyApp() } }
extension Unlock { package var subject: RequestSubject { .everyApp() } }
extension Lock { package var subject: RequestSubject { .everyApp() } }

/// Publishing gives away tokens of several apps, so that no rule for one app allows it.
extension PublishSocket { package var subject: RequestSubject { .everyApp(sharingGroup) } }
extension ListSockets { package var subject: RequestSubject { .everyApp() } }
extension UnpublishSocket { package var subject: RequestSubject { .everyApp() } }
