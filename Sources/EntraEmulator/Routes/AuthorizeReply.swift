internal import Foundation
internal import NIOHTTP1

/// How an authorization request is answered: at its redirect URI, in the response mode it asked for.
struct AuthorizeReply: Sendable {
    let redirectURI: String
    private let mode: String
    private let state: String?
    private let wantsClientInfo: Bool

    /// - Throws: when there is no address to answer at.
    init(_ request: EmulatorRequest) throws(OAuthFailure) {
        redirectURI = try request.parameters.required("redirect_uri")
        mode = request.parameters["response_mode"] ?? "query"
        state = request.parameters["state"]
        wantsClientInfo = request.parameters["client_info"] == "1" && request.authority.kind == .entra
    }

    /// - Parameter cloudHost: where the code is to be redeemed, if that is in another cloud.
    func success(code: String, user: User, cloudHost: String?) -> Response {
        var fields = ["code": code]
        fields["cloud_instance_host_name"] = cloudHost
        if wantsClientInfo {
            fields["client_info"] = user.clientInfo
        }
        return response(fields)
    }

    func failure(_ failure: OAuthFailure, trace: RequestTrace) -> Response {
        var fields = ["error": failure.error, "error_description": failure.description(trace: trace)]
        fields["error_subcode"] = failure.suberror
        fields["claims"] = failure.claims
        return response(fields)
    }

    private func response(_ fields: [String: String]) -> Response {
        var fields = fields
        fields["state"] = state
        switch mode {
        case "form_post": return .html(form(fields))
        case "fragment": return redirect(to: "\(redirectURI)#\(Parameters(fields).encoded)")
        default:
            let separator = redirectURI.contains("?") ? "&" : "?"
            return redirect(to: "\(redirectURI)\(separator)\(Parameters(fields).encoded)")
        }
    }

    private func redirect(to location: String) -> Response {
        .redirect(to: location, headers: ["Cache-Control": "no-store, no-cache"])
    }

    private func form(_ fields: [String: String]) -> String {
        let inputs = fields.sorted { $0.key < $1.key }.map { name, value in
            #"<input type="hidden" name="\#(htmlEscaped(name))" value="\#(htmlEscaped(value))">"#
        }
        return """
            <!doctype html><title>Working…</title>
            <body onload="document.forms[0].submit()">
            <form method="post" action="\(htmlEscaped(redirectURI))">
            \(inputs.joined(separator: "\n"))
            <noscript><button>Continue</button></noscript>
            </form>
            """
    }
}
