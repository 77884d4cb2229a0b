internal import CProtobufC
internal import CTokenProtos
package import TokenModel

/// The agent's answer to one request, with that request's number.
package struct Reply: Sendable, Equatable {
    package var id: UInt64
    package var body: Body

    package init(id: UInt64, _ body: Body) {
        self.id = id
        self.body = body
    }

    /// One case for each request, and one for its failure.
    package enum Body: Sendable, Equatable {
        case failure(TokenError)
        case hello(Hello.Reply)
        case acquireTokenSilent(TokenResult)
        case beginInteractive(BeginInteractive.Reply)
        case completeInteractive(TokenResult)
        case beginDeviceCode(BeginDeviceCode.Reply)
        case completeDeviceCode(TokenResult)
        case cancelInteraction
        case listAccounts(ListAccounts.Reply)
        case removeAccount(RemoveAccount.Reply)
        case getStatus(AgentStatus)
        case diagnose(Diagnose.Reply)
        case listCredentials(ListCredentials.Reply)
        case removeCredential(RemoveCredential.Reply)
        case redeemGrant(TokenResult)
        case getCurrentAccount(GetCurrentAccount.Reply)
        case importCache(ImportCache.Reply)
        case exportCache(ExportCache.Reply)
        case getKey(KeyStatus)
        case setKey(KeyStatus)
        case unlock(KeyStatus)
    }
}

extension Reply {
    /// Decodes a frame's bytes.
    ///
    /// - Throws: `malformedMessage` (-53001) when they are not a reply at all; a reply with a body that this version
    ///   does not know, or that is not as it should be, decodes as a failure, so that its request ends.
    package init(decoding bytes: some Collection<UInt8>) throws(TokenError) {
        let arena = WireArena(limit: WireLimits.memory(forFrameOf: bytes.count))
        let message = arena.withAllocator { allocator in
            bytes.withContiguousStorageIfAvailable { sso__reply__unpack(allocator, $0.count, $0.baseAddress) }
        }
        guard let message = message ?? nil else {
            throw TokenError(.malformedMessage, "the frame does not hold a reply")
        }
        let id = message.pointee.request_id
        do throws(TokenError) {
            self.init(id: id, try Body(message.pointee))
        } catch {
            self.init(id: id, .failure(error))
        }
        withExtendedLifetime(arena) {}
    }

    /// The whole frame, length and all; a body over 1 MiB is replaced by the failure that says so.
    package func frame() -> [UInt8] {
        let arena = WireArena(limit: 2 * WireLimits.replyFrame)
        guard let message = arena.message(sso__reply__init) else { return tooLarge.frame() }
        message.pointee.has_request_id = 1
        message.pointee.request_id = id
        body.encode(into: message, arena)
        guard !arena.isExhausted else { return tooLarge.frame() }
        let frame = message.withMemoryRebound(to: ProtobufCMessage.self, capacity: 1) {
            Frame.pack($0, limit: WireLimits.replyFrame)
        }
        return frame ?? tooLarge.frame()
    }

    private var tooLarge: Reply {
        Reply(id: id, .failure(TokenError(.frameTooLarge, "the reply is longer than \(WireLimits.replyFrame) bytes")))
    }
}

extension Reply.Body {
    fileprivate init(_ message: Sso__Reply) throws(TokenError) {
        self =
            switch message.body_case {
            case SSO__REPLY__BODY_FAILURE: .failure(try TokenError(message.failure))
            case SSO__REPLY__BODY_HELLO: .hello(try Hello.Reply(message.hello))
            case SSO__REPLY__BODY_ACQUIRE_TOKEN_SILENT:
                .acquireTokenSilent(try TokenResult(message.acquire_token_silent))
            case SSO__REPLY__BODY_BEGIN_INTERACTIVE:
                .beginInteractive(try BeginInteractive.Reply(message.begin_interactive))
            case SSO__REPLY__BODY_COMPLETE_INTERACTIVE:
                .completeInteractive(try TokenResult(message.complete_interactive))
            case SSO__REPLY__BODY_BEGIN_DEVICE_CODE:
                .beginDeviceCode(try BeginDeviceCode.Reply(message.begin_device_code))
            case SSO__REPLY__BODY_COMPLETE_DEVICE_CODE:
                .completeDeviceCode(try TokenResult(message.complete_device_code))
            case SSO__REPLY__BODY_CANCEL_INTERACTION: .cancelInteraction
            case SSO__REPLY__BODY_LIST_ACCOUNTS: .listAccounts(try ListAccounts.Reply(message.list_accounts))
            case SSO__REPLY__BODY_REMOVE_ACCOUNT: .removeAccount(try RemoveAccount.Reply(message.remove_account))
            case SSO__REPLY__BODY_GET_STATUS: .getStatus(try AgentStatus(message.get_status))
            case SSO__REPLY__BODY_DIAGNOSE: .diagnose(try Diagnose.Reply(message.diagnose))
            case SSO__REPLY__BODY_LIST_CREDENTIALS:
                .listCredentials(try ListCredentials.Reply(message.list_credentials))
            case SSO__REPLY__BODY_REMOVE_CREDENTIAL:
                .removeCredential(try RemoveCredential.Reply(message.remove_credential))
            case SSO__REPLY__BODY_REDEEM_GRANT: .redeemGrant(try TokenResult(message.redeem_grant))
            case SSO__REPLY__BODY_GET_CURRENT_ACCOUNT:
                .getCurrentAccount(try GetCurrentAccount.Reply(message.get_current_account))
            case SSO__REPLY__BODY_IMPORT_CACHE: .importCache(try ImportCache.Reply(message.import_cache))
            case SSO__REPLY__BODY_EXPORT_CACHE: .exportCache(try ExportCache.Reply(message.export_cache))
            case SSO__REPLY__BODY_GET_KEY: .getKey(try KeyStatus(message.get_key))
            case SSO__REPLY__BODY_SET_KEY: .setKey(try KeyStatus(message.set_key))
            case SSO__REPLY__BODY_UNLOCK: .unlock(try KeyStatus(message.unlock))
            default:
                throw TokenError(.unsupportedProtocolVersion, "the agent's reply is of a newer version; update the app")
            }
    }

    fileprivate func encode(into message: UnsafeMutablePointer<Sso__Reply>, _ arena: WireArena) {
        switch self {
        case .failure(let error):
            message.pointee.failure = error.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_FAILURE
        case .hello(let reply):
            message.pointee.hello = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_HELLO
        case .acquireTokenSilent(let reply):
            message.pointee.acquire_token_silent = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_ACQUIRE_TOKEN_SILENT
        case .beginInteractive(let reply):
            message.pointee.begin_interactive = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_BEGIN_INTERACTIVE
        case .completeInteractive(let reply):
            message.pointee.complete_interactive = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_COMPLETE_INTERACTIVE
        case .beginDeviceCode(let reply):
            message.pointee.begin_device_code = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_BEGIN_DEVICE_CODE
        case .completeDeviceCode(let reply):
            message.pointee.complete_device_code = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_COMPLETE_DEVICE_CODE
        case .cancelInteraction:
            message.pointee.cancel_interaction = arena.message(sso__cancel_interaction_reply__init)
            message.pointee.body_case = SSO__REPLY__BODY_CANCEL_INTERACTION
        case .listAccounts(let reply):
            message.pointee.list_accounts = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_LIST_ACCOUNTS
        case .removeAccount(let reply):
            message.pointee.remove_account = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_REMOVE_ACCOUNT
        case .getStatus(let reply):
            message.pointee.get_status = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_GET_STATUS
        case .diagnose(let reply):
            message.pointee.diagnose = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_DIAGNOSE
        case .listCredentials(let reply):
            message.pointee.list_credentials = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_LIST_CREDENTIALS
        case .removeCredential(let reply):
            message.pointee.remove_credential = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_REMOVE_CREDENTIAL
        case .redeemGrant(let reply):
            message.pointee.redeem_grant = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_REDEEM_GRANT
        case .getCurrentAccount(let reply):
            message.pointee.get_current_account = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_GET_CURRENT_ACCOUNT
        case .importCache(let reply):
            message.pointee.import_cache = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_IMPORT_CACHE
        case .exportCache(let reply):
            message.pointee.export_cache = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_EXPORT_CACHE
        case .getKey(let reply):
            message.pointee.get_key = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_GET_KEY
        case .setKey(let reply):
            message.pointee.set_key = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_SET_KEY
        case .unlock(let reply):
            message.pointee.unlock = reply.encode(arena)
            message.pointee.body_case = SSO__REPLY__BODY_UNLOCK
        }
    }
}
