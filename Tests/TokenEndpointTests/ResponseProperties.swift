internal import Foundation
internal import TokenModel

@testable internal import TokenEndpoint

/// Properties that hold for every response of an identity provider, whatever its bytes are: each reader returns a value that the rest of
/// the agent can use, or throws a `TokenError` that can be shown. Shared with the fuzzer in Tests/Fuzz, so this file does not import
/// Testing.
///
/// Each check returns a description of the violation; nil if there is none.
enum ResponseProperties {
    /// - Parameter bytes: the first byte selects the kind of the authority, the second one the status and the grant; the others are the
    ///   body, and the payload of an ID token.
    static func broken(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 2, let request = request(bytes[0], bytes[1]) else { return nil }
        let body = Array(bytes[2...])
        let text = String(decoding: body, as: UTF8.self)
        let status = statuses[Int(bytes[1] >> 2) % statuses.count]
        let response = HTTPResponse(
            endpoint: "https://id.example/token", status: status, fields: [(name: "Date", value: text)],
            body: Secret(bytes: body))
        return brokenTokens(response, request) ?? brokenIDToken(body, request)
            ?? brokenEndpoints(response, request.authority) ?? brokenClouds(response, request.authority)
            ?? brokenDeviceCode(response, request.authority) ?? brokenPushedRequest(response)
            ?? brokenFederation(response, request.authority) ?? brokenError(response) ?? brokenForm(text)
            ?? brokenDate(text)
    }

    private static let statuses = [200, 400, 401, 404, 201, 500]

    private static let authorities: [Authority] = [
        ("https://login.microsoftonline.com/common", Authority.Kind.entra),
        ("https://login.contoso.example/tenant", .entra), ("https://contoso.b2clogin.com/tfp/contoso/p", .b2c),
        ("https://fs.contoso.com/adfs", .adfs), ("https://contoso.ciamlogin.com", .ciam),
        ("https://id.example/main", .openID), ("http://127.0.0.1:8080/tenant", .entra),
    ].compactMap { try? Authority($0, kind: $1) }

    private static func request(_ first: UInt8, _ second: UInt8) -> TokenRequest? {
        guard let clientID = ClientID("app-1"),
            let correlationID = CorrelationID("11111111-2222-4333-8444-555555555555")
        else { return nil }
        let grant: Grant =
            second & 1 == 0
            ? .refreshToken(Secret("rt"))
            : .authorizationCode(code: Secret("code"), verifier: Secret("v"), redirectURI: "http://localhost")
        return TokenRequest(
            grant: grant, clientID: clientID, authority: authorities[Int(first) % authorities.count],
            version: second & 2 == 0 ? .v2 : .v1, scopes: ScopeSet(["User.Read"]), correlationID: correlationID)
    }

    /// What is read of a token response can be kept: there is a token, and its times and scopes are within the limits.
    private static func brokenTokens(_ response: HTTPResponse, _ request: TokenRequest) -> String? {
        let delivery = DeliveryTracker()
        do throws(TokenError) {
            let issuer = request.authority.kind == .openID ? "https://id.example/main" : nil
            let tokens = try IssuedTokens(response, to: request, issuer: issuer, now: now, delivery)
            guard response.status == 200 else { return "tokens of a response with status \(response.status)" }
            guard tokens.accessToken != nil || tokens.idToken != nil else { return "a response without a token" }
            let times = [tokens.expiresIn, tokens.extendedExpiresIn, tokens.refreshIn].compactMap(\.self)
            guard times.allSatisfy({ (0...longest).contains($0) }) else { return "the times \(times)" }
            guard tokens.scopes?.isWithinLimits ?? true else { return "scopes over the limit" }
            if tokens.idToken != nil, tokens.claims == nil { return "an ID token that was checked and cannot be read" }
            if let cloud = tokens.cloudName, !ValueLimits.isIdentifier(cloud) { return "the cloud \(cloud)" }
            return nil
        } catch {
            let isSuccess = (200...299).contains(response.status)
            if !isSuccess, delivery.refusedTokens != nil { return "tokens of a refusal that are kept" }
            return unfit(error)
        }
    }

    /// An ID token that is accepted is for the app and has not expired, by another reader of its claims.
    private static func brokenIDToken(_ payload: [UInt8], _ request: TokenRequest) -> String? {
        let token = "e30.\(Base64URL.encode(Data(payload)))."
        let validation = IDTokenValidation(request: request, issuer: "https://id.example/main", times: [now])
        guard validation.defect(of: token) == nil else { return nil }
        let members = [
            #""access_token":"at""#, #""client_info":"eyJ1aWQiOiJ1IiwidXRpZCI6InQifQ""#, #""id_token":"\#(token)""#,
        ]
        let body = "{\(members.joined(separator: ","))}"
        let response = HTTPResponse(endpoint: "https://id.example/token", status: 200, body: Secret(body))
        if let broken = brokenTokens(response, request) { return broken }
        // The validation skips the claims that it does not check; a token with one that cannot be read is refused afterwards.
        guard let claims = try? JSONReader.read(payload) else { return nil }
        let audiences = [claims["aud"]?.string].compactMap(\.self) + (claims["aud"]?.values ?? []).compactMap(\.string)
        guard audiences.contains(where: { $0.lowercased() == "app-1" }) else { return "an ID token for another app" }
        guard case .number(let digits) = claims["exp"], let expiry = Double(digits), expiry > Double(now) - 300 else {
            return "an ID token that has expired"
        }
        let needsIssuer = request.authority.kind == .openID || request.authority.kind == .adfs
        if needsIssuer, claims["iss"]?.string != "https://id.example/main" { return "an ID token of another issuer" }
        return request.authority.kind == .openID && claims["sub"]?.string == nil ? "an ID token without a subject" : nil
    }

    /// Endpoints use TLS, and are the URLs of endpoints; the issuer of an OpenID provider is the authority.
    private static func brokenEndpoints(_ response: HTTPResponse, _ authority: Authority) -> String? {
        for version in [OAuthVersion.v1, .v2] {
            do throws(TokenError) {
                let endpoints = try Endpoints(response, of: authority, version: version)
                let urls = [endpoints.token, endpoints.authorization, endpoints.deviceCode]
                for url in (urls + [endpoints.pushedAuthorization]).compactMap(\.self) {
                    guard Endpoints.isSafe(url, for: authority), Endpoints.isURL(url) else {
                        return "the endpoint \(url.debugDescription) of \(authority)"
                    }
                }
                if let page = endpoints.endSession, !Endpoints.isSafe(page, for: authority) || !Endpoints.isURL(page) {
                    return "the page for signing out \(page.debugDescription) of \(authority)"
                }
                if authority.kind == .openID, endpoints.issuer.map({ authority.isIssuer($0.identifier) }) != true {
                    return "the issuer \(String(describing: endpoints.issuer)) of \(authority)"
                }
            } catch {
                if let unfit = unfit(error) { return unfit }
            }
        }
        return nil
    }

    /// Clouds have names of hosts only; a provider on this machine names no other host.
    private static func brokenClouds(_ response: HTTPResponse, _ authority: Authority) -> String? {
        guard authority.kind == .entra else { return nil }
        do throws(TokenError) {
            let clouds = try InstanceDiscovery.clouds(in: response, of: authority)
            let hosts = clouds.flatMap { $0.aliases + [$0.preferredNetwork, $0.preferredCache] }
            for host in hosts where (try? URLParts("https://\(host)"))?.environment != host {
                return "the host \(host.debugDescription)"
            }
            return authority.isLoopback && hosts.contains { $0 != authority.environment } ? "the hosts \(hosts)" : nil
        } catch {
            return unfit(error)
        }
    }

    private static func brokenDeviceCode(_ response: HTTPResponse, _ authority: Authority) -> String? {
        do throws(TokenError) {
            let grant = try DeviceCodeGrant(response, of: authority)
            guard (1...60).contains(grant.interval), (0...3600).contains(grant.expiresIn) else {
                return "a code for \(grant.expiresIn) s, polled every \(grant.interval) s"
            }
            guard [grant.userCode, grant.verificationURL, grant.message].allSatisfy(ValueLimits.isPrintable) else {
                return "instructions that cannot be shown"
            }
            let page = try URLParts(grant.verificationURL)
            guard Endpoints.isSafe(grant.verificationURL, for: authority),
                DeviceCodeGrant.isPage(at: page.host, of: authority)
            else { return "the page \(grant.verificationURL)" }
            return nil
        } catch {
            return unfit(error)
        }
    }

    private static func brokenPushedRequest(_ response: HTTPResponse) -> String? {
        guard !response.refusesToPush else { return nil }
        do throws(TokenError) {
            let reference = try response.pushedRequestURI()
            return Endpoints.isURL(reference) ? nil : "the reference \(reference.debugDescription)"
        } catch {
            return unfit(error)
        }
    }

    private static func brokenFederation(_ response: HTTPResponse, _ authority: Authority) -> String? {
        if response.trusts(authority), response.status != 200 { return "a farm is trusted by an error" }
        do throws(TokenError) {
            let farm = try response.farm()
            return (try? URLParts("https://\(farm)"))?.environment == farm ? nil : "the farm \(farm.debugDescription)"
        } catch {
            return unfit(error)
        }
    }

    private static func brokenError(_ response: HTTPResponse) -> String? {
        guard let error = response.json.flatMap(OAuthError.init) else { return nil }
        return unfit(error.tokenError(response: response)) ?? unfit(error.authorizationError())
    }

    /// Parameters that were decoded are the same when they are encoded and decoded again, and an error among them can be shown.
    private static func brokenForm(_ text: String) -> String? {
        guard let form = FormParameters(decoding: text[...]) else { return nil }
        guard let again = FormParameters(decoding: form.encoded[...]),
            again.pairs.map({ "\($0.name)=\($0.value)" }) == form.pairs.map({ "\($0.name)=\($0.value)" })
        else { return "the parameters \(form.encoded) change" }
        return OAuthError(form).flatMap { unfit($0.authorizationError()) }
    }

    private static func brokenDate(_ text: String) -> String? {
        guard let seconds = HTTPDate.secondsSince1970(text) else { return nil }
        return HTTPDate.secondsSince1970(text) == seconds && abs(seconds) < 1 << 53 ? nil : "the date \(seconds)"
    }

    /// Nil if an error can be sent to an app and shown.
    private static func unfit(_ error: TokenError) -> String? {
        let texts = [error.message, error.details.oauthError, error.details.subError, error.details.errorDescription]
        for text in texts.compactMap(\.self) where text.utf8.count > ValueLimits.text || !ValueLimits.isPrintable(text)
        {
            return "the error \(text.debugDescription)"
        }
        return nil
    }

    private static let now: Int64 = 1_800_000_000
    private static let longest: Int64 = 100 * 366 * 86_400
}
