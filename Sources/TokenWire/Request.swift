internal import CProtobufC
internal import CTokenProtos
package import TokenModel

/// What an app asks, with the number its reply will carry.
package struct Request: Sendable, Equatable {
    package var id: UInt64
    package var body: Body

    package init(id: UInt64, _ body: Body) {
        self.id = id
        self.body = body
    }

    /// One case for each request; the order is that of their numbers.
    package enum Body: Sendable, Equatable {
        case hello(Hello)
        case acquireTokenSilent(AcquireTokenSilent)
        case beginInteractive(BeginInteractive)
        case completeInteractive(CompleteInteractive)
        case beginDeviceCode(BeginDeviceCode)
        case completeDeviceCode(CompleteDeviceCode)
        case cancelInteraction(CancelInteraction)
        case listAccounts(ListAccounts)
        case removeAccount(RemoveAccount)
        case getStatus(GetStatus)
        case diagnose(Diagnose)
        case listCredentials(ListCredentials)
        case removeCredential(RemoveCredential)
        case redeemGrant(RedeemGrant)
        case getCurrentAccount(GetCurrentAccount)
        case importCache(ImportCache)
        case exportCache(ExportCache)
        case getKey(GetKey)
        case setKey(SetKey)
        case unlock(Unlock)
        /// Not a request that can be served; the error is its reply.
        case rejected(TokenError)
    }

    /// The numbers of the requests above, as in agent.proto.
    package static let numbers: [UInt32] = Array(10...24) + Array(29...33)
}

extension Request {
    /// Decodes a frame's bytes. It never fails: what cannot be served becomes `.rejected`, since it is owed a reply too.
    package init(decoding bytes: some Collection<UInt8>) {
        let arena = WireArena(limit: WireLimits.memory(forFrameOf: bytes.count))
        let message = arena.withAllocator { allocator in
            bytes.withContiguousStorageIfAvailable { sso__request__unpack(allocator, $0.count, $0.baseAddress) }
        }
        guard let message = message ?? nil else {
            self.init(id: 0, .rejected(TokenError(.malformedMessage, "the frame does not hold a request")))
            return
        }
        let id = message.pointee.request_id
        do throws(TokenError) {
            self.init(id: id, try Body(message.pointee))
        } catch {
            self.init(id: id, .rejected(error))
        }
        withExtendedLifetime(arena) {}
    }

    /// The whole frame, length and all.
    ///
    /// - Throws: `frameTooLarge` (-53002) over 64 KiB.
    package func frame() throws(TokenError) -> [UInt8] {
        let arena = WireArena(limit: WireLimits.replyFrame)
        guard let message = arena.message(sso__request__init) else { throw Self.tooLarge }
        message.pointee.has_request_id = 1
        message.pointee.request_id = id
        body.encode(into: message, arena)
        guard !arena.isExhausted else { throw Self.tooLarge }
        let frame = message.withMemoryRebound(to: ProtobufCMessage.self, capacity: 1) {
            Frame.pack($0, limit: WireLimits.requestFrame)
        }
        guard let frame else { throw Self.tooLarge }
        return frame
    }

    private static let tooLarge = TokenError(
        .frameTooLarge, "the request is longer than \(WireLimits.requestFrame) bytes; shorten its claims or scopes")
}

extension Request.Body {
    fileprivate init(_ message: Sso__Request) throws(TokenError) {
        self =
            switch message.body_case {
            case SSO__REQUEST__BODY_HELLO: .hello(try Hello(message.hello))
            case SSO__REQUEST__BODY_ACQUIRE_TOKEN_SILENT:
                .acquireTokenSilent(try AcquireTokenSilent(message.acquire_token_silent))
            case SSO__REQUEST__BODY_BEGIN_INTERACTIVE:
                .beginInteractive(try BeginInteractive(message.begin_interactive))
            case SSO__REQUEST__BODY_COMPLETE_INTERACTIVE:
                .completeInteractive(try CompleteInteractive(message.complete_interactive))
            case SSO__REQUEST__BODY_BEGIN_DEVICE_CODE:
                .beginDeviceCode(try BeginDeviceCode(message.begin_device_code))
            case SSO__REQUEST__BODY_COMPLETE_DEVICE_CODE:
                .completeDeviceCode(try CompleteDeviceCode(message.complete_device_code))
            case SSO__REQUEST__BODY_CANCEL_INTERACTION:
                .cancelInteraction(try CancelInteraction(message.cancel_interaction))
            case SSO__REQUEST__BODY_LIST_ACCOUNTS: .listAccounts(try ListAccounts(message.list_accounts))
            case SSO__REQUEST__BODY_REMOVE_ACCOUNT: .removeAccount(try RemoveAccount(message.remove_account))
            case SSO__REQUEST__BODY_GET_STATUS: .getStatus(GetStatus())
            case SSO__REQUEST__BODY_DIAGNOSE: .diagnose(try Diagnose(message.diagnose))
            case SSO__REQUEST__BODY_LIST_CREDENTIALS: .listCredentials(try ListCredentials(message.list_credentials))
            case SSO__REQUEST__BODY_REMOVE_CREDENTIAL:
                .removeCredential(try RemoveCredential(message.remove_credential))
            case SSO__REQUEST__BODY_REDEEM_GRANT: .redeemGrant(try RedeemGrant(message.redeem_grant))
            case SSO__REQUEST__BODY_GET_CURRENT_ACCOUNT:
                .getCurrentAccount(try GetCurrentAccount(message.get_current_account))
            case SSO__REQUEST__BODY_IMPORT_CACHE: .importCache(try ImportCache(message.import_cache))
            case SSO__REQUEST__BODY_EXPORT_CACHE: .exportCache(try ExportCache(message.export_cache))
            case SSO__REQUEST__BODY_GET_KEY: .getKey(GetKey())
            case SSO__REQUEST__BODY_SET_KEY: .setKey(try SetKey(message.set_key))
            case SSO__REQUEST__BODY_UNLOCK: .unlock(try Unlock(message.unlock))
            default:
                .rejected(TokenError(.unsupportedProtocolVersion, "this agent does not know that request; update it"))
            }
    }

    fileprivate func encode(into message: UnsafeMutablePointer<Sso__Request>, _ arena: WireArena) {
        switch self {
        case .hello(let request):
            message.pointee.hello = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_HELLO
        case .acquireTokenSilent(let request):
            message.pointee.acquire_token_silent = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_ACQUIRE_TOKEN_SILENT
        case .beginInteractive(let request):
            message.pointee.begin_interactive = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_BEGIN_INTERACTIVE
        case .completeInteractive(let request):
            message.pointee.complete_interactive = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_COMPLETE_INTERACTIVE
        case .beginDeviceCode(let request):
            message.pointee.begin_device_code = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_BEGIN_DEVICE_CODE
        case .completeDeviceCode(let request):
            message.pointee.complete_device_code = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_COMPLETE_DEVICE_CODE
        case .cancelInteraction(let request):
            message.pointee.cancel_interaction = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_CANCEL_INTERACTION
        case .listAccounts(let request):
            message.pointee.list_accounts = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_LIST_ACCOUNTS
        case .removeAccount(let request):
            message.pointee.remove_account = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_REMOVE_ACCOUNT
        case .getStatus(let request):
            message.pointee.get_status = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_GET_STATUS
        case .diagnose(let request):
            message.pointee.diagnose = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_DIAGNOSE
        case .listCredentials(let request):
            message.pointee.list_credentials = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_LIST_CREDENTIALS
        case .removeCredential(let request):
            message.pointee.remove_credential = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_REMOVE_CREDENTIAL
        case .redeemGrant(let request):
            message.pointee.redeem_grant = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_REDEEM_GRANT
        case .getCurrentAccount(let request):
            message.pointee.get_current_account = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_GET_CURRENT_ACCOUNT
        case .importCache(let request):
            message.pointee.import_cache = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_IMPORT_CACHE
        case .exportCache(let request):
            message.pointee.export_cache = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_EXPORT_CACHE
        case .getKey(let request):
            message.pointee.get_key = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_GET_KEY
        case .setKey(let request):
            message.pointee.set_key = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_SET_KEY
        case .unlock(let request):
            message.pointee.unlock = request.encode(arena)
            message.pointee.body_case = SSO__REQUEST__BODY_UNLOCK
        case .rejected: break
        }
    }
}
