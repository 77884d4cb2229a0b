internal import TokenModel
internal import TokenWire

/// A request for a list, which comes on pages.
protocol PagedRequest: WireRequest where Reply: WirePage {
    /// The `next` of the page before; nil for the first page.
    var after: String? { get set }

    /// The size of a page in bytes, approximately.
    static func size(of page: Reply) -> Int
}

extension ListAccounts: PagedRequest {
    static func size(of page: Reply) -> Int {
        page.accounts.reduce(0) { $1.tenantProfiles.reduce($0 + $1.approximateSize) { $0 + $1.approximateSize } }
    }
}

extension ListCredentials: PagedRequest {
    static func size(of page: Reply) -> Int { page.credentials.reduce(0) { $0 + $1.approximateSize } }
}

/// The limits of a list or of an export that this process accepts. No cache is as large; but the agent can be another user's, and its list
/// endless.
struct ListLimits {
    var pages = 16_384
    /// The limit of the size, in bytes: that of an agent's store.
    var bytes = 1 << 30

    /// The limits of an export, which is longer than what is in the store.
    static let ofExport = ListLimits(bytes: 4 << 30)

    /// Subtracts a page, or a part of an export, by its size.
    ///
    /// - Parameter whole: what the page or the part belongs to.
    /// - Throws: `malformedMessage` (-53001) if that is too long.
    mutating func subtract(_ size: Int, of whole: String) throws(TokenError) {
        pages -= 1
        bytes -= size
        guard pages >= 0, bytes >= 0 else {
            throw TokenError(.malformedMessage, "the agent's \(whole) has no end; restart the agent")
        }
    }
}

/// The walk through the pages of a list. If no other call is in flight, each page is requested before the one before is decoded, so that the
/// agent makes the one while this process reads the other.
struct PageWalk<Request: PagedRequest> {
    private var request: Request
    private var limits: ListLimits
    private let connection: AgentConnection
    /// The call for the next page; nil at the end of the list.
    private(set) var call: StartedCall?

    init(_ list: Request, within limits: ListLimits, on connection: AgentConnection) throws(TokenError) {
        (request, self.limits, self.connection) = (list, limits, connection)
        call = try connection.begin(list)
    }

    /// Adds the page in the reply to `call`, and requests the next one.
    ///
    /// - Throws: the agent's failure; `malformedMessage` (-53001) if the reply is malformed or the list does not end.
    mutating func proceed(with reply: ReplyFrame, _ add: (Request.Reply) -> Void) throws(TokenError) {
        request.after = try reply.next(in: Request.self)
        call = request.after == nil ? nil : try connection.begin(request)
        do throws(TokenError) {
            let page = try reply.answer(to: Request.self)
            try limits.subtract(Request.size(of: page), of: "list")
            add(page)
        } catch {
            if let call { connection.drop(call) }
            throw error
        }
    }
}

extension AgentClient {
    /// Requests every page of a list, and calls `add` with each.
    ///
    /// - Throws: `malformedMessage` (-53001) if the list does not end.
    func pages<Request: PagedRequest>(
        of list: Request, within limits: ListLimits = ListLimits(), _ add: (Request.Reply) -> Void
    ) async throws(TokenError) {
        var walk = try PageWalk(list, within: limits, on: connection)
        while let call = walk.call {
            guard !Task.isCancelled else {
                connection.drop(call)
                throw AgentConnection.cancelled
            }
            switch connection.finish(call) {
            case .replied(let reply): try walk.proceed(with: reply, add)
            case .unfinished(let call): try walk.proceed(with: await outcome(of: call).get(), add)
            }
        }
    }

    /// The blocking form of `pages`.
    func waitForPages<Request: PagedRequest>(
        of list: Request, within limits: ListLimits = ListLimits(), _ add: (Request.Reply) -> Void
    ) throws(TokenError) {
        var walk = try PageWalk(list, within: limits, on: connection)
        while let call = walk.call {
            switch connection.finish(call) {
            case .replied(let reply): try walk.proceed(with: reply, add)
            case .unfinished(let call): try walk.proceed(with: waitForOutcome(of: call).get(), add)
            }
        }
    }
}

extension [Account] {
    /// Appends a page of a list. An account with more tenant profiles than one page holds continues on the next page.
    mutating func append(page: [Account]) {
        guard let first = page.first, let last, last.isContinued(by: first) else { return self += page }
        self[count - 1].tenantProfiles += first.tenantProfiles
        self += page.dropFirst()
    }
}

extension Account {
    /// Whether `next`, the first account of the next page, is this account again.
    fileprivate func isContinued(by next: Account) -> Bool {
        guard homeAccountID == next.homeAccountID, environment == next.environment else { return false }
        return homeAccountID != nil || username?.lowercased() == next.username?.lowercased()
    }
}
