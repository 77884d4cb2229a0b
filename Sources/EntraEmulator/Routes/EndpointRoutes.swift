internal import Foundation
internal import NIOHTTP1

/// The emulated endpoints: counts each request, lets its fault happen, and otherwise answers it.
struct EndpointRoutes: Sendable {
    let state: EmulatorState
    let key: SigningKey

    func respond(to request: EmulatorRequest) async throws -> Response {
        let fault = state.update { contents in
            contents.counts.arrived(
                request.counter, clientID: request.clientID, fingerprint: Self.fingerprint(request))
            contents.record(request)
            return contents.takeFault(for: request)
        }
        defer { state.update { $0.counts.left(request.counter) } }
        guard let fault else { return try answer(request) }
        let fate = FaultyAnswer(fault: fault, state: state, request: request)
        if fault.afterEffect {
            let answer = try answer(request)
            return try await fate.response() ?? answer
        }
        if let response = try await fate.response() { return response }
        return try answer(request)
    }

    /// The usual answer, an error in the services' own shape included.
    private func answer(_ request: EmulatorRequest) throws -> Response {
        let trace = state.trace(of: request)
        var response: Response
        do {
            response = try route(request)
        } catch let failure as OAuthFailure {
            response = try failure.response(trace: trace)
        }
        for (name, value) in trace.headers { response.headers.replaceOrAdd(name: name, value: value) }
        return response
    }

    private func route(_ request: EmulatorRequest) throws -> Response {
        switch request.address.endpoint {
        case .authorize: try AuthorizeRoute(state: state).respond(to: request)
        case .token: try TokenRoute(state: state, key: key).respond(to: request)
        case .deviceCode: try DeviceCodeRoute(state: state).respond(to: request)
        case .deviceLogin: DeviceLoginRoute(state: state).respond(to: request)
        case .instanceDiscovery: try DiscoveryRoute(state: state, key: key).instance(request)
        case .openIDConfiguration: try DiscoveryRoute(state: state, key: key).openIDConfiguration(request)
        case .keys: try DiscoveryRoute(state: state, key: key).keys()
        case .userInfo: try UserInfoRoute(state: state, key: key).respond(to: request)
        case .logout: LogoutRoute.respond(to: request)
        case .enrollment: try FederationRoute(state: state).enrollment(request)
        case .webFinger: try FederationRoute(state: state).webFinger(request)
        }
    }

    /// A name for the refresh token in the request that does not give it away.
    private static func fingerprint(_ request: EmulatorRequest) -> String? {
        guard request.grant == .refreshToken else { return nil }
        return request.parameters["refresh_token"].map { Fingerprint.of($0) }
    }
}
