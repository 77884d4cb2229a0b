package import TokenModel

extension TokenEndpointClient {
    /// The URL of the page that ends the session of a browser at an authority (OpenID Connect RP-Initiated Logout 1.0); nil if it has
    /// none.
    ///
    /// In Microsoft's clouds the page follows from the authority. Any other authority names it in its discovery document, which is requested
    /// unless it is known.
    ///
    /// - Parameter clientID: an app that has signed in there; nil if none is known.
    /// - Throws: as `endpoints(of:version:)`.
    package func signOutPage(of authority: Authority, for clientID: ClientID?) async throws(TokenError) -> String? {
        guard let page = try await endpoints(of: authority, version: .v2).endSession else { return nil }
        return Endpoints.signOutPage(page, of: authority, for: clientID)
    }
}

extension Endpoints {
    /// The page for signing out in a discovery document; nil if there is none, or if it must not be opened.
    ///
    /// A provider could name a page of another one, which would end the session there, or whatever else a URL can do there: the page has
    /// to be at a host at which the provider's users may enter codes. One that is elsewhere is no error, since tokens do not depend on it.
    static func signOutPage(_ document: JSONTree, of authority: Authority) -> String? {
        guard let url = document.text("end_session_endpoint"), isSafe(url, for: authority), isPlain(url),
            let page = try? URLParts(url), authority.isLoopback || !page.isLoopback,
            DeviceCodeGrant.isPage(at: page.host, of: authority)
        else { return nil }
        return url
    }

    /// The page with the ID of an app, which OpenID Connect and B2C have as a parameter. A query of the page is kept.
    fileprivate static func signOutPage(_ page: String, of authority: Authority, for clientID: ClientID?) -> String {
        switch authority.kind {
        case .entra, .adfs, .ciam: return page
        case .b2c, .openID: break
        }
        guard let clientID else { return page }
        var query = FormParameters()
        query.add("client_id", clientID.text)
        let url = query.added(to: page)
        return url.utf8.count <= ValueLimits.text ? url : page
    }
}
