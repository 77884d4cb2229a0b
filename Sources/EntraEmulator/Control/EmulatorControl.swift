/// Controls a running emulator: settings, faults, users, and counts of requests.
///
/// Every call takes effect before it returns, and can be made on any thread.
package struct EmulatorControl: Sendable {
    let state: EmulatorState

    /// The emulator's settings; a change is valid for the next request.
    package var settings: EmulatorSettings {
        get { state.update { $0.settings } }
        nonmutating set { state.update { $0.settings = newValue } }
    }

    /// Adds a fault after the existing ones. The first fault that matches a request is applied to it.
    package func inject(_ fault: Fault) {
        state.update { $0.faults.append(fault) }
    }

    /// Removes all faults.
    package func clearFaults() {
        state.update { $0.faults = [] }
    }

    /// Resumes held requests, the oldest first.
    ///
    /// - Returns: the number of resumed requests.
    @discardableResult
    package func release(_ limit: Int = .max) -> Int {
        state.release(limit)
    }

    /// The counts of requests since the start or the last ``resetCounts()``.
    package var counts: Counts { state.update { $0.counts } }

    /// Sets the counts to zero and forgets the recorded requests.
    package func resetCounts() {
        state.update { contents in
            contents.counts.reset()
            contents.recorded = []
        }
    }

    /// The requests since the start or the last ``resetCounts()``, in order of arrival; of more than 10,000, the latest. Empty if the
    /// emulator keeps none (``EmulatorOptions/recordsRequests``).
    package var requests: [RecordedRequest] { state.update { $0.recorded } }

    /// Returns when at least `count` requests of a kind have arrived, or when the task is cancelled.
    package func waitForCount(_ counter: Counter, atLeast count: Int) async {
        await state.wait { $0[counter] >= count }
    }

    /// Returns when at least `count` requests are held, or when the task is cancelled.
    package func waitForHeld(atLeast count: Int) async {
        await state.wait { $0.held >= count }
    }

    /// The users, in order of creation.
    package var users: [User] { state.update { $0.ledger.users } }

    /// Returns the user with this name, and creates it if it does not exist.
    @discardableResult
    package func addUser(_ username: String) -> User {
        state.update { $0.ledger.addUser(username) }
    }

    /// Disables or enables a user. A disabled user cannot sign in, and refresh tokens are refused with `AADSTS50057`.
    package func setDisabled(_ isDisabled: Bool, username: String) {
        state.update { $0.ledger.setDisabled(isDisabled, username: username) }
    }

    /// The user's object ID in a tenant, which is given by its ID or domain.
    package func objectID(of username: String, in tenant: String) -> String {
        state.directory.objectID(of: username, in: tenantID(tenant))
    }

    /// The ID of a tenant, which is given by its domain or ID.
    package func tenantID(_ domain: String) -> String {
        state.directory.tenantID(realm: domain) ?? state.directory.tenantID(domain: domain)
    }

    /// Revokes the tokens of one user or, with nil, of all users.
    ///
    /// A resource answers a revoked access token of an app with the capability `cp1` by a claims challenge. A revoked refresh token is
    /// refused with `invalid_grant` and suberror `bad_token`.
    ///
    /// - Returns: the number of refresh tokens that are refused now, and were valid before.
    @discardableResult
    package func revokeTokens(of username: String? = nil, refreshTokens: RefreshTokenRevocation = .revoked) -> Int {
        let now = state.now
        return state.update { $0.ledger.revokeTokens(username: username, refreshTokens, now: now) }
    }

    /// Approves the device code with this user code or, with nil, every pending one.
    ///
    /// - Parameter username: the user who signs in; nil is the first user.
    /// - Returns: the number of approved device codes.
    @discardableResult
    package func approveDeviceCode(_ userCode: String? = nil, username: String? = nil) -> Int {
        decide(.approved(username: username), userCode)
    }

    /// Declines the device code with this user code or, with nil, every pending one.
    ///
    /// - Returns: the number of declined device codes.
    @discardableResult
    package func declineDeviceCode(_ userCode: String? = nil) -> Int {
        decide(.declined, userCode)
    }

    private func decide(_ decision: DeviceCode.Decision, _ userCode: String?) -> Int {
        let now = state.now
        return state.update { $0.ledger.decide(decision, userCode: userCode, now: now) }
    }

    /// Restores users, tokens, faults, settings and counts to the options of the start, and releases held requests.
    package func reset() {
        state.release()
        state.update { $0.reset(state.options) }
    }
}
