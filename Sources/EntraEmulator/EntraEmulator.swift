internal import Foundation
internal import Hummingbird
internal import ServiceLifecycle
internal import UnixSignals

/// A local identity provider that behaves like Microsoft Entra's endpoints, v1 and v2.
///
/// It listens on 127.0.0.1 only, makes users and apps up when they are first named, and signs anybody in without a
/// password. A test steers it through ``control``.
package struct EntraEmulator: Sendable {
    /// Scheme, host and port, without a slash at the end.
    package let url: String
    package let control: EmulatorControl
    private let services: ServiceGroup
    private let running: Task<Void, any Error>

    /// Starts an emulator; it accepts connections when this returns.
    ///
    /// - Throws: why it cannot listen, or cannot use its TLS files.
    package static func start(_ options: EmulatorOptions = EmulatorOptions()) async throws -> EntraEmulator {
        try await start(options, stopsOnSignals: false)
    }

    /// Runs until SIGTERM or SIGINT.
    package static func serve(_ options: EmulatorOptions, whenReady: (EntraEmulator) throws -> Void) async throws {
        let emulator = try await start(options, stopsOnSignals: true)
        do {
            try whenReady(emulator)
        } catch {
            await emulator.stop()
            throw error
        }
        try await emulator.running.value
    }

    /// Stops listening, lets held requests go, and returns when every connection is closed.
    package func stop() async {
        await services.triggerGracefulShutdown()
        _ = await running.result
    }

    private static func start(_ options: EmulatorOptions, stopsOnSignals: Bool) async throws -> EntraEmulator {
        let state = EmulatorState(options)
        let (urls, listening) = AsyncThrowingStream<String, any Error>.makeStream()
        let application = try await EmulatorApplication.make(state) { listening.yield($0) }
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [application, WaitEnder(state: state)],
                gracefulShutdownSignals: stopsOnSignals ? [.sigterm, .sigint] : [], logger: options.logger))
        // Unstructured on purpose: the emulator outlives the call that starts it, until `stop`.
        let running = Task {
            do {
                try await services.run()
                listening.finish()
            } catch {
                listening.finish(throwing: error)
                throw error
            }
        }
        var listened = urls.makeAsyncIterator()
        guard let url = try await listened.next() else { throw EmulatorError.stoppedBeforeListening }
        return EntraEmulator(url: url, control: EmulatorControl(state: state), services: services, running: running)
    }
}
