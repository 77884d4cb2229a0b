internal import Foundation

/// A local identity provider that behaves like Microsoft Entra's endpoints, v1 and v2.
///
/// It listens on 127.0.0.1 only, makes users and apps up when they are first named, and signs anybody in without a
/// password. A test steers it through ``control``.
package struct EntraEmulator: Sendable {
    /// Scheme, host and port, without a slash at the end.
    package let url: String
    package let control: EmulatorControl
    private let server: HTTPServer

    /// Starts an emulator; it accepts connections when this returns.
    ///
    /// - Throws: why it cannot listen, or cannot use its TLS files.
    package static func start(_ options: EmulatorOptions = EmulatorOptions()) async throws -> EntraEmulator {
        let state = EmulatorState(options)
        let scheme = options.tls == nil ? "http" : "https"
        let routes = Routes(
            control: ControlRoutes(emulator: EmulatorControl(state: state)),
            endpoints: EndpointRoutes(state: state, key: try SigningKey()), scheme: scheme)
        let tls = try options.tls.map { files throws(TLSFilesUnusable) in try TLSContext(files) }
        let server = try await HTTPServer.start(
            port: options.port, tls: tls,
            whenBound: { port in state.update { $0.baseURL = "\(scheme)://127.0.0.1:\(port)" } }, routes.respond)
        return EntraEmulator(
            url: state.update { $0.baseURL }, control: EmulatorControl(state: state), server: server)
    }

    /// Runs until SIGTERM or SIGINT.
    package static func serve(_ options: EmulatorOptions, whenReady: (EntraEmulator) throws -> Void) async throws {
        let signals = StopSignals()
        let emulator = try await start(options)
        do {
            try whenReady(emulator)
        } catch {
            await emulator.stop()
            throw error
        }
        await signals.first()
        await emulator.stop()
    }

    /// Stops listening, lets held requests go, and returns when every connection is closed.
    package func stop() async {
        control.state.stopWaiting()
        await server.stop()
    }
}
