/// `GET …/logout`: nobody is signed in at the emulator, so there is only the way back.
enum LogoutRoute {
    static func respond(to request: EmulatorRequest) -> Response {
        guard let target = request.parameters["post_logout_redirect_uri"] else {
            return .html("<!doctype html><title>Signed out</title><p>You signed out.")
        }
        return .redirect(to: target)
    }
}
