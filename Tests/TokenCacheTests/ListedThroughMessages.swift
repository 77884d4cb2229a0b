internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import TokenCache

/// A cache as an app sees it: every page encoded as a reply, and decoded again.
extension CredentialCache {
    /// The accounts; those of two pages that are one put together.
    func listedAccounts(_ request: ListAccounts = ListAccounts(clientID: nil, onlySignedIn: false)) throws -> [Account]
    {
        var (accounts, page) = ([Account](), request)
        repeat {
            guard case .listAccounts(let reply) = try Self.received(.listAccounts(self.accounts(page))) else { break }
            for account in reply.accounts {
                if let last = accounts.last, account.homeAccountID == last.homeAccountID,
                    account.homeAccountID != nil || account.username == last.username
                {
                    accounts[accounts.count - 1].tenantProfiles += account.tenantProfiles
                } else {
                    accounts.append(account)
                }
            }
            let next = reply.next
            #expect(next == nil || next != page.after, "the list does not go on")
            page.after = next
        } while page.after != nil
        return accounts
    }

    func listedCredentials() throws -> [Credential] {
        var (credentials, page) = ([Credential](), ListCredentials())
        repeat {
            let reply = self.credentials(page, localScheme: "https")
            guard case .listCredentials(let received) = try Self.received(.listCredentials(reply)) else { break }
            credentials += received.credentials
            page.after = received.next
        } while page.after != nil
        return credentials
    }

    /// Removes everything that is listed, account by account and credential by credential, as `ssoctl` and ADAL do.
    mutating func removeAllThatIsListed() throws {
        let app = try #require(ClientID("some-app"))
        for account in try listedAccounts() {
            let request = RemoveAccount(clientID: app, account: account.reference, extent: .account)
            let sent = try Self.sent(.removeAccount(request))
            guard case .removeAccount(let received) = sent else { throw TokenError(.internalError, "\(sent)") }
            apply(changes(removing: received), in: .standard)
        }
        for credential in try listedCredentials() {
            let sent = try Self.sent(.removeCredential(RemoveCredential(id: credential.id)))
            guard case .removeCredential(let received) = sent else { throw TokenError(.internalError, "\(sent)") }
            apply(changes(removing: received), in: .standard)
        }
    }

    /// A reply, over the wire.
    static func received(_ body: Reply.Body) throws -> Reply.Body {
        let received = try Reply(decoding: Reply(id: 1, body).frame().dropFirst(FrameDecoder.headerLength)).body
        if case .failure(let error) = received { throw error }
        return received
    }

    private static func sent(_ body: Request.Body) throws -> Request.Body {
        Request(decoding: try Request(id: 1, body).frame().dropFirst(FrameDecoder.headerLength)).body
    }
}
