internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Imports and exports of other libraries' caches over a socket.
@Suite(.bounded) struct TransferTests {
    @Test func exportsACacheThatAnotherAgentImports() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.signIn("bob@contoso.com", f.parameters("app-2", resource: "https://graph.example"))
            let exported = try await f.agent.exportCache(.msalJSON, includesSecrets: true)
            try await AgentFixture.with { other in
                let report = try await other.agent.importCache(exported, format: .msalJSON)
                #expect([report.accounts, report.refreshTokens, report.accessTokens, report.idTokens] == [2, 2, 2, 2])
                let again = try await other.agent.exportCache(.msalJSON, includesSecrets: true)
                #expect(again == exported)
                let parameters = try f.parameters()
                let token = try await other.silent(parameters, AccountReference(username: "alice@contoso.com"))
                #expect(token.isFromCache)
            }
        }
    }

    @Test func survivesARestart() async throws {
        try await AgentFixture.with { f in
            try await f.agent.importAlice(at: f.emulator.url)
            let exported = try await f.agent.exportCache(.msalJSON, includesSecrets: true)
            try await f.restarted { later in
                let again = try await later.agent.exportCache(.msalJSON, includesSecrets: true)
                #expect(again == exported)
            }
        }
    }

    @Test func reportsADryRunWithoutChanges() async throws {
        try await AgentFixture.with { f in
            let report = try await f.agent.importAlice(at: f.emulator.url, isDryRun: true)
            #expect(report.refreshTokens == 1)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)).isEmpty)
        }
    }

    @Test func exportsNothingWithoutIncludesSecrets() async throws {
        try await AgentFixture.with { f in
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.exportCache(.msalJSON, includesSecrets: false)
            }
            #expect(error?.code == .invalidDeveloperParameter)
        }
    }

    /// The cache is larger than a request and than a reply.
    @Test(arguments: [CacheFormat.adalJSON, .msalJSON])
    func transfersACacheInManyParts(format: CacheFormat) async throws {
        try await AgentFixture.with { f in
            let entries = (0..<1500).map { index in
                #"{"_authority":"https://login.windows.net/common","_clientId":"app","isMRRT":true,"#
                    + #""userId":"user-\#(index)@contoso.com","refreshToken":"\#(index)\#(String(repeating: "r", count: 900))"}"#
            }
            let cache = Secret("[\(entries.joined(separator: ","))]")
            let report = try await f.agent.importCache(cache, format: .adalJSON)
            #expect(report.accounts == 1500)
            let exported = try await f.agent.exportCache(
                format == .adalJSON ? .adalArchive : .msalJSON, includesSecrets: true)
            #expect(exported.count > WireLimits.replyFrame)
        }
    }

    /// A part is reported after the agent has received it, although the next one has been read by then.
    @Test func reportsTheFractionThatTheAgentHasReceived() async throws {
        try await AgentFixture.with { f in
            let fractions = Mutex<[Double]>([])
            let threeParts = Secret("[\(String(repeating: " ", count: 3 * 48 * 1024 - 2))]")
            _ = try await f.agent.importCache(threeParts, format: .adalJSON) { fraction in
                fractions.withLock { $0.append(fraction) }
            }
            #expect(fractions.withLock { $0 } == [1.0 / 3, 2.0 / 3])
        }
    }

    @Test func reportsTheFirstSkippedEntriesAndTheirNumber() async throws {
        try await AgentFixture.with { f in
            let entries = Array(repeating: "{}", count: 1000).joined(separator: ",")
            let report = try await f.agent.importCache(Secret("[\(entries)]"), format: .adalJSON)
            #expect(report.skippedCount == 1000)
            #expect(report.skipped.count == 200)
        }
    }

    @Test func refusesAnInvalidCacheAndKeepsNothing() async throws {
        try await AgentFixture.with { f in
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.importCache(Secret("no cache"), format: .msalJSON)
            }
            #expect(error?.code == .cacheBadFormat)
            try await f.agent.importAlice(at: f.emulator.url)
        }
    }

    /// A refresh token of a file may be newer than the one being redeemed, but is older than the one in its response.
    @Test func neverOverwritesATokenThatIsBeingRedeemed() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let held = try #require(try await f.agent.exportedRefreshTokens().first)
            let exported = try await f.agent.exportCache(.msalJSON, includesSecrets: true).reveal()
            let other = exported.replacing(held, with: "of-the-file")
            let (then, later) = (f.clock.now, f.clock.now + 50)
            let file = other.replacing(
                #""last_modification_time":"\#(then)""#, with: #""last_modification_time":"\#(later)""#)
            #expect(file != other)
            f.clock.advance(by: 100)
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let renewed = Task { try await f.silent(f.parameters(), account, force: true) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let importer = try RawPeer(f.socketPath)
            try importer.write(ImportCache(format: .msalJSON, data: Secret(file), isLast: true), id: 1)
            // The agent has the import when it answers the next request of the connection.
            try importer.write(GetStatus(), id: 2)
            #expect(try await offPool { try importer.reply()?.id } == 2)
            // An import of another account, and no shorter: when it is complete, the first one has been examined.
            let elsewhere = try #require(SharingGroup("elsewhere"))
            for _ in 0..<5 {
                _ = try await f.agent.importCache(Secret(file), format: .msalJSON, sharingGroup: elsewhere)
            }
            f.emulator.control.release()
            #expect(try await !renewed.value.isFromCache)
            let imported = try #require(try await offPool { try importer.reply() })
            #expect(try imported.reply(to: ImportCache.self).report?.refreshTokens == 0)
            #expect(try await !f.agent.exportedRefreshTokens().contains("of-the-file"))
            // The emulator accepts each refresh token once: the newest one is valid.
            _ = try await f.silent(f.parameters(), account, force: true)
        }
    }

    // MARK: Scenario S4

    /// An older ADAL's cache: MSAL lists its account, gets a token without a prompt, and the account has its identifier
    /// from then on; ADAL goes on as before.
    @Test(arguments: [CacheFormat.adalJSON, .adalArchive])
    func importsAnOlderADALCache(format: CacheFormat) async throws {
        try await AgentFixture.with { f in
            let cache = try await f.olderADALCache(of: "alice@contoso.com", format)
            _ = try await f.agent.importCache(cache, format: format)
            let (signIns, app) = (f.signIns, try f.parameters().clientID)

            let before = try await f.agent.listAccounts(ListAccounts(clientID: app))
            #expect(before.map(\.username) == ["alice@contoso.com"])
            #expect(before.map(\.source) == [.adal])
            #expect(before[0].homeAccountID == nil)

            let token = try await f.silent(f.parameters(), before[0].reference)
            let identifier = try #require(token.account.homeAccountID)
            let after = try await f.agent.listAccounts(ListAccounts(clientID: app))
            #expect(after.map(\.homeAccountID) == [identifier])

            let adal = try await f.silent(
                f.parameters(resource: "https://graph.example"), AccountReference(username: "ALICE@contoso.com"))
            #expect(adal.accessToken.reveal() == "AT-of-old")
            if format == .adalJSON {
                // Another import: the file's refresh token has been replaced by now, and must not return.
                let again = try await f.agent.importCache(cache, format: format)
                #expect(again.refreshTokens == 0)
            }
            _ = try await f.silent(f.parameters(), AccountReference(homeAccountID: identifier), force: true)
            #expect(f.signIns == signIns)
        }
    }
}

extension AgentClient {
    @discardableResult
    fileprivate func importAlice(at url: String, isDryRun: Bool = false) async throws -> ImportCache.Report {
        let entry =
            #"{"_authority":"\#(url)/common","_clientId":"app-1","isMRRT":true,"#
            + #""userId":"alice@contoso.com","refreshToken":"r"}"#
        return try await importCache(Secret("[\(entry)]"), format: .adalJSON, isDryRun: isDryRun)
    }
}

extension AgentFixture {
    /// The cache that an older ADAL writes after a sign-in: an expired access token, a valid refresh token, and no
    /// home account ID.
    fileprivate func olderADALCache(of username: String, _ format: CacheFormat) async throws -> Secret {
        let elsewhere = try #require(SharingGroup("elsewhere"))
        let signedIn = try await signIn(username, parameters(resource: "https://graph.example", group: elsewhere))
        let exported = try await agent.exportCache(.msalJSON, sharingGroup: elsewhere, includesSecrets: true)
        let root = try JSONSerialization.jsonObject(with: Data(exported.reveal().utf8)) as? [String: Any]
        let section = try #require(root?["RefreshToken"] as? [String: [String: Any]])
        let refreshToken = try #require(section.values.first?["secret"] as? String)
        let account = try #require(signedIn.account.homeAccountID)
        let entry =
            #"{"_authority":"\#(emulator.url)/common","_clientId":"app-1","isMRRT":true,"userId":"\#(username)","#
            + #""resource":"https://graph.example","accessToken":"AT-of-old","expiresOn":\#(clock.now + 3000),"#
            + #""expiresIn":3600,"refreshToken":"\#(refreshToken)","oid":"\#(account.objectID ?? "")","#
            + #""tenantId":"\#(account.tenantID ?? "")"}"#
        let json = Secret("[\(entry)]")
        guard format == .adalArchive else { return json }
        let scratch = try #require(SharingGroup("scratch"))
        _ = try await agent.importCache(json, format: .adalJSON, sharingGroup: scratch)
        return try await agent.exportCache(.adalArchive, sharingGroup: scratch, includesSecrets: true)
    }
}
