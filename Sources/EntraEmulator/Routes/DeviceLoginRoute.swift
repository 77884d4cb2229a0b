internal import Foundation
internal import NIOHTTP1

/// `GET /devicelogin`: the page of the other device. `?code=…&user=…` approves at once, `&decline=1` declines.
struct DeviceLoginRoute: Sendable {
    let state: EmulatorState

    func respond(to request: EmulatorRequest) -> Response {
        guard let userCode = request.parameters["code"] else { return .html(Self.form) }
        let isDeclined = request.parameters["decline"] == "1"
        let decision: DeviceCode.Decision =
            isDeclined ? .declined : .approved(username: request.parameters["user"])
        let count = state.update { $0.ledger.decide(decision, userCode: userCode) }
        guard count > 0 else {
            return .html("<!doctype html><title>Unknown code</title><p>That code did not work.", status: .badRequest)
        }
        return .html("<!doctype html><title>Done</title><p>You may close this window.")
    }

    private static let form = """
        <!doctype html><title>Enter code</title>
        <form method="get">
        <label>Code <input name="code"></label>
        <label>Username <input name="user"></label>
        <button>Next</button>
        </form>
        """
}
