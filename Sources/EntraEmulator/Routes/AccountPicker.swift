internal import Foundation

/// The page on which one of several users is chosen: a link each.
struct AccountPicker: Sendable {
    let users: [User]
    let request: EmulatorRequest

    var response: Response {
        .html(
            """
            <!doctype html><title>Pick an account</title>
            <h1>Pick an account</h1>
            <ul>
            \(users.map(link).joined(separator: "\n"))
            </ul>
            """)
    }

    /// The same request again, with the user as its hint.
    private func link(_ user: User) -> String {
        var parameters = request.parameters
        parameters["login_hint"] = user.username
        parameters["prompt"] = nil
        let target = "\(request.path)?\(parameters.encoded)"
        return #"<li><a href="\#(htmlEscaped(target))">\#(htmlEscaped(user.username))</a></li>"#
    }
}
