internal import Foundation
internal import NIOHTTP1

/// Routes a request to the control routes or to an emulated endpoint.
struct Routes: Sendable {
    let control: ControlRoutes
    let endpoints: EndpointRoutes
    let scheme: String

    /// Answers a request; nil closes the connection without a response.
    @Sendable func respond(to request: ReceivedRequest) async -> Response? {
        do {
            if request.path.hasPrefix("/control/") { return try await control.respond(to: request) }
            guard let emulated = EmulatorRequest(request, scheme: scheme) else {
                if request.path == "/" {
                    return Guide(url: "\(scheme)://\(request.host ?? "127.0.0.1")").page.response()
                }
                return .text("Not Found\n", type: "text/plain", status: .notFound)
            }
            return try await endpoints.respond(to: emulated)
        } catch is FaultApplication.ConnectionDropped {
            return nil
        } catch {
            return .text("\(error)\n", type: "text/plain", status: .internalServerError)
        }
    }
}

/// The emulated endpoints: counts each request, and answers it as usual or as an injected fault says.
struct EndpointRoutes: Sendable {
    let state: EmulatorState
    let key: SigningKey

    func respond(to request: EmulatorRequest) async throws -> Response {
        let fault = state.update { contents in
            contents.counts.countArrival(
                of: request.counter, clientID: request.clientID, fingerprint: Self.fingerprint(request))
            if state.options.recordsRequests { contents.record(request) }
            return contents.consumeFault(for: request)
        }
        defer { state.update { $0.counts.countDeparture(of: request.counter) } }
        guard let fault else { return try answer(request) }
        // The reply needs the redirect URI, and a request that is answered uses up the reference to its parameters.
        var described = request
        described.parameters = state.update { $0.ledger.knownParameters(of: request) }
        let application = FaultApplication(fault: fault, state: state, request: described)
        if fault.afterEffect {
            let answer = try answer(request)
            return try await application.response() ?? answer
        }
        if let response = try await application.response() { return response }
        return try answer(request)
    }

    /// Answers a request without faults; an error has the shape that the services give it.
    private func answer(_ request: EmulatorRequest) throws -> Response {
        let trace = state.trace(of: request)
        var response: Response
        do {
            response = try route(request, trace)
        } catch let failure as OAuthFailure {
            response = try failure.response(trace: trace)
        }
        for (name, value) in trace.headers { response.headers.replaceOrAdd(name: name, value: value) }
        return response
    }

    private func route(_ request: EmulatorRequest, _ trace: RequestTrace) throws -> Response {
        try request.checkParameters()
        return switch request.address.endpoint {
        case .authorize: try AuthorizeRoute(state: state, trace: trace).respond(to: request)
        case .pushedRequest: try PushedRequestRoute(state: state).respond(to: request)
        case .token: try TokenRoute(state: state, key: key).respond(to: request)
        case .deviceCode: try DeviceCodeRoute(state: state).respond(to: request)
        case .deviceLogin: DeviceLoginRoute(state: state).respond(to: request)
        case .instanceDiscovery: try DiscoveryRoute(state: state, key: key).instance(request)
        case .openIDConfiguration: try DiscoveryRoute(state: state, key: key).openIDConfiguration(request)
        case .keys: try DiscoveryRoute(state: state, key: key).keys()
        case .userInfo, .graph: try ResourceRoute(state: state, key: key, trace: trace).respond(to: request)
        case .logout: LogoutRoute.respond(to: request)
        case .enrollment: try FederationRoute(state: state).enrollment(request)
        case .webFinger: try FederationRoute(state: state).webFinger(request)
        }
    }

    /// The fingerprint of the request's refresh token.
    private static func fingerprint(_ request: EmulatorRequest) -> String? {
        guard request.grant == .refreshToken else { return nil }
        return request.parameters["refresh_token"].map { Fingerprint.of($0) }
    }
}

/// `GET …/logout`: redirects to `post_logout_redirect_uri`, with the `state` of the request (OpenID Connect RP-Initiated Logout
/// section 3). The emulator keeps no browser session that could end.
enum LogoutRoute {
    static func respond(to request: EmulatorRequest) -> Response {
        guard let target = request.parameters["post_logout_redirect_uri"] else {
            return Page(title: "You are signed out", content: "<p>You can close this window.</p>").response()
        }
        guard let state = request.parameters["state"] else { return .redirect(to: target) }
        return .redirect(to: "\(target)\(target.contains("?") ? "&" : "?")\(Parameters(["state": state]).encoded)")
    }
}
