internal import Foundation
internal import Hummingbird

/// Where a request goes: to the control routes, to an emulated endpoint, or nowhere.
struct EmulatorResponder: HTTPResponder {
    typealias Context = EmulatorContext

    let control: ControlRoutes
    let endpoints: EndpointRoutes
    let scheme: String

    func respond(to request: Request, context: EmulatorContext) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: context.maxUploadSize)
        if request.uri.path.hasPrefix("/control/") {
            do {
                return try await control.respond(to: request, body: body)
            } catch let error as HTTPError {
                return try error.response(from: request, context: context)
            }
        }
        guard let emulated = EmulatorRequest(request, body: String(buffer: body), scheme: scheme) else {
            return .text("Not Found\n", type: "text/plain", status: .notFound)
        }
        return try await endpoints.respond(to: emulated, context: context)
    }
}
