internal import AgentClient
internal import CBenchSystem
internal import Foundation
internal import MSALCompat
internal import TokenModel

/// The async method of MSAL.
struct MSALLevel: Level {
    let name = "MSALCompat"
    private let client: AgentClient

    init(socketPath: String) {
        client = AgentClient(socketPath: socketPath, appName: "agent-bench")
    }

    @concurrent func sample(_ count: Int) async throws -> Sample {
        let request = try SignedInAccount.request
        let configuration = MSALPublicClientApplicationConfig(clientId: request.parameters.clientID.text)
        configuration.authority = try MSALAuthority(url: try url(request.parameters.authority))
        let application = try MSALPublicClientApplication(configuration: configuration, client: client)
        guard let account = try application.allAccounts().first else { throw BenchError("MSAL lists no account") }
        let parameters = MSALSilentTokenParameters(scopes: request.parameters.scopes.scopes, account: account)
        var nanoseconds: [UInt64] = []
        nanoseconds.reserveCapacity(count)
        for _ in 0..<count {
            let start = bench_now()
            _ = try await application.acquireTokenSilent(with: parameters)
            nanoseconds.append(bench_now() - start)
        }
        return Sample(nanoseconds)
    }

    private func url(_ authority: Authority) throws -> URL {
        guard let url = URL(string: authority.url) else { throw BenchError("\(authority) is not a URL") }
        return url
    }
}
