internal import CAgentSystem
internal import Dispatch
internal import Foundation

/// A local identity provider that behaves like Microsoft Entra's endpoints, v1 and v2.
///
/// It listens on 127.0.0.1 only, creates users and apps when they are first named, and signs any user in without a
/// password. Tests control it with ``control``.
///
/// The emulator has form, JSON, base64url and token code of its own. Of the agent's Swift modules it imports only ListenerSupport,
/// which encodes and decodes nothing: with shared code, a mistake of the agent's encoder would be undone by the same mistake in the
/// emulator's decoder, and no test would fail.
package struct Emulator: Sendable {
    /// Scheme, host and port, without a slash at the end.
    package let url: String
    package let control: EmulatorControl
    private let server: HTTPServer

    /// Starts an emulator, which accepts connections when this returns.
    ///
    /// - Throws: `TLSFilesUnusable`, or `PortUnusable` if it cannot listen.
    package static func start(_ options: EmulatorOptions = EmulatorOptions()) async throws -> Emulator {
        let state = EmulatorState(options)
        let scheme = options.tls == nil ? "http" : "https"
        let routes = Routes(
            control: ControlRoutes(emulator: EmulatorControl(state: state)),
            endpoints: EndpointRoutes(state: state, key: try SigningKey()), scheme: scheme)
        let tls = try options.tls.map { files throws(TLSFilesUnusable) in try TLSContext(files) }
        let server = try await HTTPServer.start(
            port: options.port, tls: tls,
            whenBound: { port in state.update { $0.baseURL = "\(scheme)://127.0.0.1:\(port)" } }, routes.respond)
        return Emulator(
            url: state.update { $0.baseURL }, control: EmulatorControl(state: state), server: server)
    }

    /// What a user has to know to sign in with this emulator.
    package var guide: Guide { Guide(url: url) }

    /// Runs an emulator until the process receives SIGTERM or SIGINT. It records no requests.
    package static func serve(_ options: EmulatorOptions, whenReady: (Emulator) throws -> Void) async throws {
        let signals = StopSignals()
        var options = options
        options.recordsRequests = false
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

    /// Stops listening, releases held requests, and returns when every connection is closed.
    package func stop() async {
        control.state.stopWaiting()
        await server.stop()
    }
}

/// Waits for SIGTERM and SIGINT.
private struct StopSignals {
    private let stream: AsyncStream<Void>
    private let source: (any DispatchSourceRead)?

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        let signals = agent_catch_stop_signals()
        // Without a pipe, the signals end the process at once.
        source = signals < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: signals)
        source?.setEventHandler {
            var number: UInt8 = 0
            if read(signals, &number, 1) == 1 { continuation.yield() }
        }
        source?.resume()
        // A write to a closed connection then fails instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Returns when the process has received the first signal.
    func first() async {
        for await _ in stream { return }
    }
}
