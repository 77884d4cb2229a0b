internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import TokenEndpoint

extension TLSFiles {
    /// The certificate with which an emulator serves TLS.
    init(_ certificate: TestCertificate) {
        self.init(certificateChain: certificate.certificateFile, privateKey: certificate.keyFile)
    }
}

/// A network in which every host is the emulator, with TLS: `login.microsoftonline.us` as well as `fs.contoso.com`.
///
/// Agents and browsers use it through an HTTP proxy, as in a corporate network, so that the product needs no hook for tests.
package struct TestInternet: Sendable {
    let proxy: TunnelProxy
    private let files: TLSFiles

    /// The hosts to which connections were requested, in order.
    package var hosts: [String] { proxy.hosts }

    /// The command of a browser, for `$BROWSER`.
    package var browser: String { "\(curl.joined(separator: " ")) %s" }

    static func start(_ emulator: Emulator, files: TLSFiles) async throws -> TestInternet {
        let port = URL(string: emulator.url)?.port ?? 0
        return TestInternet(proxy: try await TunnelProxy.start(leadingTo: port), files: files)
    }

    /// The environment of programs that use the network. The browser is a script, since `$BROWSER` is a list with colons.
    func environment(in folder: TemporaryFolder) async throws -> [String: String] {
        let script = try await folder.makeProgram("browser", "exec \(curl.joined(separator: " ")) \"$1\"")
        return [
            "HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)", "SSL_CERT_FILE": files.certificateChain,
            "BROWSER": "\(script) %s",
        ]
    }

    func network() throws -> NetworkSettings {
        try NetworkSettings(
            environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)", "SSL_CERT_FILE": files.certificateChain])
    }

    /// Opens a page and follows its redirects, as a browser does.
    func browse(to url: String) async throws {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let run = try TestProcess("/usr/bin/env", curl + [url], environment: ["PATH": path])
        let ended = try await run.finish()
        guard ended.status == 0 else { throw BrowserFailed(errors: ended.errors) }
    }

    private var curl: [String] {
        [
            "curl", "-sSL", "-o", "/dev/null", "--proxy", "http://127.0.0.1:\(proxy.port)", "--noproxy",
            "localhost,127.0.0.1", "--cacert", files.certificateChain,
        ]
    }

    struct BrowserFailed: Error {
        let errors: String
    }
}
