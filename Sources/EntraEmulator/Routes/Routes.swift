internal import Foundation
internal import NIOHTTP1

/// Where a request goes: to the control routes, to an emulated endpoint, or nowhere.
struct Routes: Sendable {
    let control: ControlRoutes
    let endpoints: EndpointRoutes
    let scheme: String

    /// The answer to a request; nil when its connection is to be closed without one.
    @Sendable func respond(to request: ReceivedRequest) async -> Response? {
        do {
            if request.path.hasPrefix("/control/") { return try await control.respond(to: request) }
            guard let emulated = EmulatorRequest(request, scheme: scheme) else {
                return .text("Not Found\n", type: "text/plain", status: .notFound)
            }
            return try await endpoints.respond(to: emulated)
        } catch is FaultyAnswer.ConnectionDropped {
            return nil
        } catch {
            return .text("\(error)\n", type: "text/plain", status: .internalServerError)
        }
    }
}
