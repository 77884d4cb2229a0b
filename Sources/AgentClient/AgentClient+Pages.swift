internal import TokenModel
internal import TokenWire

/// A request for a list, which comes on pages.
protocol PagedRequest: WireRequest {
    /// The `next` of the page before; nil for the first page.
    var after: String? { get set }

    static func next(of page: Reply) -> String?

    /// The size of a page in bytes, approximately.
    static func size(of page: Reply) -> Int
}

extension ListAccounts: PagedRequest {
    static func next(of page: Reply) -> String? { page.next }

    static func size(of page: Reply) -> Int {
        page.accounts.reduce(0) { $1.tenantProfiles.reduce($0 + $1.approximateSize) { $0 + $1.approximateSize } }
    }
}

extension ListCredentials: PagedRequest {
    static func next(of page: Reply) -> String? { page.next }

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

    /// Subtracts a page from the limits.
    ///
    /// - Throws: `malformedMessage` (-53001) if the list is too long.
    mutating func take<Request: PagedRequest>(_ page: Request.Reply, of request: Request) throws(TokenError) {
        try take(Request.size(of: page), of: "list")
    }

    /// Takes a page, or a part of an export, by its size.
    ///
    /// - Parameter whole: what the page or the part belongs to.
    /// - Throws: `malformedMessage` (-53001) if that is too long.
    mutating func take(_ size: Int, of whole: String) throws(TokenError) {
        pages -= 1
        bytes -= size
        guard pages >= 0, bytes >= 0 else {
            throw TokenError(.malformedMessage, "the agent's \(whole) has no end; restart the agent")
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
        var (request, limits) = (list, limits)
        repeat {
            let page = try await call(request)
            try limits.take(page, of: request)
            add(page)
            request.after = Request.next(of: page)
        } while request.after != nil
    }

    /// The blocking form of `pages`.
    func waitForPages<Request: PagedRequest>(
        of list: Request, within limits: ListLimits = ListLimits(), _ add: (Request.Reply) -> Void
    ) throws(TokenError) {
        var (request, limits) = (list, limits)
        repeat {
            let page = try wait(request)
            try limits.take(page, of: request)
            add(page)
            request.after = Request.next(of: page)
        } while request.after != nil
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
