internal import TokenModel
internal import TokenWire

/// A request for a list, which comes on pages.
protocol PagedRequest: WireRequest {
    /// The `next` of the page before; nil for the first page.
    var after: String? { get set }

    static func next(of page: Reply) -> String?
}

extension ListAccounts: PagedRequest {
    static func next(of page: Reply) -> String? { page.next }
}

extension ListCredentials: PagedRequest {
    static func next(of page: Reply) -> String? { page.next }
}

extension AgentClient {
    /// Requests every page of a list, and calls `add` with each.
    ///
    /// - Throws: `malformedMessage` (-53001) if the list does not end.
    func pages<Request: PagedRequest>(of list: Request, _ add: (Request.Reply) -> Void) async throws(TokenError) {
        var request = list
        for _ in 0..<Self.pageLimit {
            let page = try await call(request)
            add(page)
            request.after = Request.next(of: page)
            if request.after == nil { return }
        }
        throw Self.endless
    }

    /// The blocking form of `pages`.
    func waitForPages<Request: PagedRequest>(of list: Request, _ add: (Request.Reply) -> Void) throws(TokenError) {
        var request = list
        for _ in 0..<Self.pageLimit {
            let page = try wait(request)
            add(page)
            request.after = Request.next(of: page)
            if request.after == nil { return }
        }
        throw Self.endless
    }

    /// No cache has as many pages. The agent can be another user's, and a list of it endless.
    private static let pageLimit = 16_384

    private static let endless = TokenError(.malformedMessage, "the agent's list has no end; restart the agent")
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
