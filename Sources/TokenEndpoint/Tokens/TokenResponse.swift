internal import TokenModel

extension IssuedTokens {
    /// - Parameters:
    ///   - issuer: the issuer that the provider's discovery document names, as in `Endpoints.issuer`.
    ///   - now: this machine's time, in seconds since 1970.
    ///   - age: the time since the response was sent, in seconds, if the machine has slept meanwhile.
    ///   - delivery: gets the tokens of a response that is not valid.
    init(
        _ response: HTTPResponse, to request: TokenRequest, issuer: String?, now: Int64, age: Int64 = 0,
        _ delivery: DeliveryTracker? = nil
    ) throws(TokenError) {
        let object: JSONTree
        do throws(TokenError) {
            object = try response.oauthObject(
                of: request.authority, isOfSignIn: request.grant.isSignIn, hiding: request.grant.secrets)
        } catch {
            if let delivery { Self.recordRefused(response, to: request, now: now, delivery) }
            if case .refreshToken = request.grant, let refusal = response.refusalWithoutReason(of: request.authority) {
                throw refusal
            }
            throw error
        }
        self.init(object, to: request, now: now, age: age)
        do throws(TokenError) {
            try requireValid(response, to: request, issuer: issuer, now: now)
        } catch {
            delivery?.recordRefused(self)
            throw error
        }
    }

    /// Records the tokens of a response that cannot be read as a whole, if there is a refresh token among them.
    static func recordRefused(
        _ response: HTTPResponse, to request: TokenRequest, now: Int64, _ delivery: DeliveryTracker
    ) {
        guard let members = response.membersOfInvalid else { return }
        delivery.recordRefused(Self(members, to: request, now: now))
    }

    private func requireValid(
        _ response: HTTPResponse, to request: TokenRequest, issuer: String?, now: Int64
    ) throws(TokenError) {
        // As Microsoft's libraries, missing tokens are reported as internal errors, and wrong ones as invalid responses. An ID token
        // is enough for MSAL only.
        guard accessToken != nil || request.version == .v2 && idToken != nil else {
            throw response.invalid("holds no \(request.version == .v1 ? "access " : "")token", code: .internalError)
        }
        // RFC 6749 section 7.1: a token of an unknown type must not be used.
        guard tokenType.lowercased() == "bearer" else {
            throw response.invalid("holds a token that is not a bearer token")
        }
        if let idToken {
            let times = [now, response.date].compactMap(\.self)
            let validation = IDTokenValidation(request: request, issuer: issuer, times: times)
            if let defect = validation.defect(of: idToken) { throw response.invalid("holds an ID token \(defect)") }
            // The validation reads the claims that it checks only.
            guard claims != nil else { throw response.invalid("holds an ID token that cannot be read") }
        } else if request.authority.kind == .openID, request.grant.isSignIn {
            // OpenID Connect Core 1.0 section 3.1.3.3. Without an ID token, neither the user nor the request of the
            // sign-in is known.
            throw response.invalid("holds no ID token")
        }
        // Microsoft's clouds always send the requested `client_info`; for others, the subject of the ID token is used
        // without it. A subject that a B2C policy chooses could be the identifier of another tenant's account.
        let needsClientInfo = request.version == .v2 || request.authority.kind == .b2c
        if needsClientInfo, homeAccountID == nil, CloudDirectory.isBuiltIn(request.authority.environment) {
            throw response.invalid("holds no usable client_info", code: .internalError)
        }
    }

    /// Durations come before times: they do not depend on this machine's clock. They began when the response was sent.
    private init(_ object: JSONTree, to request: TokenRequest, now: Int64, age: Int64 = 0) {
        let clientInfo = object.text("client_info")
        func rest(of duration: Int64) -> Int64 { max(duration - age, 0) }
        self.init(
            accessToken: object.text("access_token").map { Secret($0) },
            tokenType: object.text("token_type") ?? "Bearer",
            expiresIn: object.seconds("expires_in").map(rest) ?? object.seconds(from: now, to: "expires_on")
                ?? rest(of: 3600),
            extendedExpiresIn: object.seconds("ext_expires_in").map(rest)
                ?? object.seconds(from: now, to: "ext_expires_on"),
            refreshIn: object.seconds("refresh_in").map(rest) ?? object.seconds(from: now, to: "refresh_on"),
            // Limited here, so that a million scopes are not handled on the event loop.
            scopes: object.text("scope").map { ScopeSet(target: $0).limited(keeping: request.scopes) },
            refreshToken: object.text("refresh_token").map { Secret($0) },
            isMultiResource: request.version == .v2 || object.text("resource") != nil,
            idToken: object.text("id_token"),
            homeAccountID: clientInfo.flatMap(HomeAccountID.named),
            clientInfo: clientInfo,
            familyID: object.text("foci").flatMap { FamilyID($0) },
            cloudName: (object.text("cloud_instance_host_name") ?? object.text("cloud_instance_name")).flatMap {
                ValueLimits.isIdentifier($0) ? $0 : nil
            })
    }
}

extension HTTPResponse {
    /// The JSON object of a successful OAuth response.
    ///
    /// - Parameters:
    ///   - authority: the authority that was asked.
    ///   - isOfSignIn: whether the response belongs to a sign-in, which an error then cannot require.
    ///   - secrets: the secrets of the request, which the provider may repeat in an error.
    /// - Throws: the OAuth error of the response; `unhandledHTTPResponse` or `serverInvalidResponse` if it is neither.
    func oauthObject(
        of authority: Authority, isOfSignIn: Bool, hiding secrets: [Secret] = []
    ) throws(TokenError) -> JSONTree {
        guard isOAuth || authority.kind == .openID && isErrorOfGrant else { throw hiding(secrets).unhandled }
        guard let object = json else { throw invalid("is not a JSON object") }
        if let error = OAuthError(object, hiding: secrets) {
            throw isOfSignIn ? error.signInError(response: self) : error.tokenError(response: self)
        }
        guard status == 200 else { throw invalid("is neither a success nor an OAuth error") }
        return object
    }

    /// The error of a refresh token that an OpenID provider refuses with a status of RFC 6749 section 5.2 and without a body, as some
    /// do for a revoked one; nil for any other response. Microsoft's providers say why.
    fileprivate func refusalWithoutReason(of authority: Authority) -> TokenError? {
        let isBlank = body.withBytes { bytes in bytes.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) } }
        guard authority.kind == .openID, status == 400 || status == 401, isBlank else { return nil }
        var details = TokenError.Details()
        details.httpStatus = Int32(clamping: status)
        return TokenError(
            .interactionRequired,
            "\(endpoint) refuses the refresh token (HTTP status \(status)), and does not say why; sign in again",
            details: details)
    }

    /// The members of a success that is not a JSON object, such as one without its end, or has an error as well or another status than 200,
    /// if there is a refresh token among them: the provider may have replaced the one of the request, whatever else is wrong. Nil otherwise.
    fileprivate var membersOfInvalid: JSONTree? {
        guard (200...299).contains(status) else { return nil }
        let members = json ?? DamagedObject.texts(named: Self.namesOfRefused, in: body)
        // An error that comes with no tokens may repeat the request.
        let hasTokens = members.text("access_token") != nil || members.text("id_token") != nil
        guard hasTokens || members.text("error") == nil else { return nil }
        return members.text("refresh_token") == nil ? nil : members
    }

    /// The refresh token, what says whose it is, and what says that it was issued.
    private static let namesOfRefused = ["refresh_token", "client_info", "id_token", "foci", "access_token", "error"]

    /// Whether an error of a grant has the status 403 or 428. RFC 6749 section 5.2 has 400, as Microsoft's providers; Auth0 has 403, also
    /// while it waits for the user of a device code, and Google has 428 then.
    private var isErrorOfGrant: Bool {
        (status == 403 || status == 428) && json?.text("error").map(Self.errorsOfGrants.contains) == true
    }

    /// The errors of RFC 6749 section 5.2 and RFC 8628 section 3.5 that concern the grant: a proxy sends none of them.
    private static let errorsOfGrants: Set = [
        "invalid_grant", "unauthorized_client", "authorization_pending", "slow_down", "access_denied", "expired_token",
    ]
}
