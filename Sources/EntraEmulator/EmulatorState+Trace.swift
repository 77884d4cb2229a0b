extension EmulatorState {
    /// The identifiers that the failure of this request carries.
    func trace(of request: EmulatorRequest) -> FailureTrace {
        let traceID = update { $0.ledger.nextGUID("trace") }
        return FailureTrace(traceID: traceID, correlationID: request.correlationID, now: now)
    }

    func trace() -> FailureTrace {
        FailureTrace(traceID: update { $0.ledger.nextGUID("trace") }, correlationID: nil, now: now)
    }
}
