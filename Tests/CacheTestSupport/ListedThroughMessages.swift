internal import Testing
package import TokenCache
package import TokenModel
package import TokenWire

/// Lists of a cache through messages: every page is encoded as a reply, and decoded.
extension CredentialCache {
    /// The accounts. One that is divided between two pages is joined.
    package func listedAccounts(_ request: ListAccounts = ListAccounts(clientID: nil, onlySignedIn: false)) throws
        -> [Account]
    {
        var (accounts, page) = ([Account](), request)
        repeat {
            let reply = try Self.received(self.accounts(page), to: ListAccounts.self)
            for account in reply.accounts {
                if let last = accounts.last, account.homeAccountID == last.homeAccountID,
                    account.environment == last.environment,
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

    package func listedCredentials() throws -> [Credential] {
        var (credentials, page) = ([Credential](), ListCredentials())
        repeat {
            let received = try Self.received(self.credentials(page, localScheme: "https"), to: ListCredentials.self)
            credentials += received.credentials
            try #require(received.next == nil || received.next != page.after, "the list does not go on")
            page.after = received.next
        } while page.after != nil
        return credentials
    }

    /// Removes everything that is listed, account by account and credential by credential, as `ssoctl` and ADAL do.
    package mutating func removeAllThatIsListed() throws {
        let app = try #require(ClientID("some-app"))
        for account in try listedAccounts() {
            let request = RemoveAccount(clientID: app, account: account.reference, extent: .account)
            apply(changes(removing: try Self.sent(request)), in: .standard)
        }
        for credential in try listedCredentials() {
            apply(changes(removing: try Self.sent(RemoveCredential(id: credential.id))), in: .standard)
        }
    }

    /// Encodes and decodes a reply.
    package static func received<Request: WireRequest>(
        _ reply: Request.Reply, to type: Request.Type
    ) throws -> Request.Reply {
        let frame = ReplyFrame.encode(.success(reply), to: type, id: 1)
        return try ReplyFrame(decoding: frame.dropFirst(FrameDecoder.headerLength)).reply(to: type)
    }

    /// Encodes and decodes a request.
    private static func sent<Request: WireRequest>(_ request: Request) throws -> Request {
        let frame = try RequestFrame.encode(request, id: 1)
        return try RequestFrame(decoding: frame.dropFirst(FrameDecoder.headerLength)).request()
    }
}
