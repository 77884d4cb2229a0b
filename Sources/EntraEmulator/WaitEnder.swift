internal import ServiceLifecycle

/// Ends all waiting when the emulator is told to stop. Services stop last one first, so this comes before the server.
struct WaitEnder: Service {
    let state: EmulatorState

    func run() async throws {
        try await gracefulShutdown()
        state.stopWaiting()
    }
}
