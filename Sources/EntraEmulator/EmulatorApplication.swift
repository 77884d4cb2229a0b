internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
internal import NIOCore
internal import NIOSSL

/// The server of an emulator, put together.
enum EmulatorApplication {
    /// - Parameter whenListening: gets the base URL, before the first request is read.
    static func make(
        _ state: EmulatorState, whenListening: @escaping @Sendable (String) -> Void
    ) async throws -> Application<EmulatorResponder> {
        let options = state.options
        let scheme = options.tls == nil ? "http" : "https"
        let responder = EmulatorResponder(
            control: ControlRoutes(emulator: EmulatorControl(state: state)),
            endpoints: EndpointRoutes(state: state, key: try await SigningKey()),
            scheme: scheme)
        return Application(
            responder: responder, server: try server(options.tls),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: options.port)),
            onServerRunning: { channel in
                let url = "\(scheme)://127.0.0.1:\(channel.localAddress?.port ?? options.port)"
                state.update { $0.baseURL = url }
                whenListening(url)
            },
            logger: options.logger)
    }

    private static func server(_ files: TLSFiles?) throws -> HTTPServerBuilder {
        guard let files else { return .http1() }
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificateChain)
        let key = try NIOSSLPrivateKey(file: files.privateKey, format: .pem)
        return try .tls(
            .http1(),
            tlsConfiguration: .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
    }
}
