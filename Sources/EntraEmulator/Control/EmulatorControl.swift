/// What a test may ask of a running emulator and do to it. Every call takes effect before it returns.
package struct EmulatorControl: Sendable {
    let state: EmulatorState

    /// What may change while it runs.
    package var settings: EmulatorSettings {
        get { state.update { $0.settings } }
        nonmutating set { state.update { $0.settings = newValue } }
    }

    /// Queues a fault behind those that are there; the first that matches a request happens to it.
    package func inject(_ fault: Fault) {
        state.update { $0.faults.append(fault) }
    }

    package func clearFaults() {
        state.update { $0.faults = [] }
    }

    /// Lets held requests go on, the oldest first, and returns how many.
    @discardableResult
    package func release(_ limit: Int = .max) -> Int {
        state.release(limit)
    }

    package var counts: Counts { state.update { $0.counts } }

    package func resetCounts() {
        state.update { contents in
            contents.counts.reset()
            contents.recorded = []
        }
    }

    /// The requests since the start or the last ``resetCounts()``, in the order of their arrival.
    package var requests: [RecordedRequest] { state.update { $0.recorded } }

    /// Returns when so many requests of a kind have arrived, or when the task is cancelled.
    package func waitForCount(_ counter: Counter, atLeast count: Int) async {
        await state.wait { $0[counter] >= count }
    }

    /// Returns when so many requests are held at once, or when the task is cancelled.
    package func waitForHeld(atLeast count: Int) async {
        await state.wait { $0.held >= count }
    }

    /// In the order in which they came to be.
    package var users: [User] { state.update { $0.ledger.users } }

    /// The user of that name, made up if need be.
    @discardableResult
    package func addUser(_ username: String) -> User {
        state.update { $0.ledger.addUser(username) }
    }

    /// A disabled user cannot sign in, and refresh tokens are refused with `AADSTS50057`.
    package func setDisabled(_ isDisabled: Bool, username: String) {
        state.update { $0.ledger.setDisabled(isDisabled, username: username) }
    }

    /// The object ID that tokens for this user carry in a tenant, given by its ID or domain.
    package func objectID(of username: String, in tenant: String) -> String {
        state.directory.objectID(of: username, in: tenantID(tenant))
    }

    /// The ID of a tenant, given by its domain (or its ID).
    package func tenantID(_ domain: String) -> String {
        state.directory.tenantID(realm: domain) ?? state.directory.tenantID(domain: domain)
    }

    /// Revokes the tokens of a user, or everybody's; returns how many refresh tokens were live.
    ///
    /// Such a refresh token is refused with `invalid_grant` and suberror `bad_token`.
    @discardableResult
    package func revokeTokens(of username: String? = nil) -> Int {
        state.update { $0.ledger.revokeTokens(username: username) }
    }

    /// Approves the device code with this user code, or every pending one; returns how many there were.
    ///
    /// - Parameter username: who signs in; nil is the first user there is.
    @discardableResult
    package func approveDeviceCode(_ userCode: String? = nil, username: String? = nil) -> Int {
        state.update { $0.ledger.decide(.approved(username: username), userCode: userCode) }
    }

    @discardableResult
    package func declineDeviceCode(_ userCode: String? = nil) -> Int {
        state.update { $0.ledger.decide(.declined, userCode: userCode) }
    }

    /// Back to the options it started with: users, tokens, faults, settings, counts.
    package func reset() {
        state.release()
        state.update { $0.reset(state.options) }
    }
}
