extension EmulatorState {
    /// The identifiers that the failure of this request carries.
    func trace(of request: EmulatorRequest) -> RequestTrace {
        let traceID = update { $0.ledger.nextGUID("trace") }
        return RequestTrace(traceID: traceID, correlationID: request.correlationID, now: now)
    }
}
