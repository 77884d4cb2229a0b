internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct NetworkSettingsTests {
    @Test(
        arguments: [
            ("", "https://login.example/", false), ("*", "https://login.example/", true),
            ("login.example", "https://login.example/", true), ("LOGIN.example", "https://login.example/", true),
            (".example", "https://login.example/", true), ("*.example", "https://login.example/", true),
            ("example", "https://login.example/", true), ("ample", "https://login.example/", false),
            ("a, login.example ,b", "https://login.example/", true),
            ("a login.example", "https://login.example/", true),
            ("login.example:443", "https://login.example/", true),
            ("login.example:8443", "https://login.example/", false),
            ("login.example:8443", "https://login.example:8443/", true),
            ("login.example", "https://login.example:8443/", true),
            ("10.0.0.1", "https://10.0.0.1/", true), ("10.0.0.1", "https://10.0.0.11/", false),
            ("0.0.1", "https://10.0.0.1.x/", false), ("[fd00::1]", "https://[fd00::1]/", true),
            ("fd00::1", "https://[fd00::1]:8443/", true), ("[fd00::1]:443", "https://[fd00::1]:8443/", false),
            ("login.example.", "https://login.example/", true), ("example.", "https://login.example/", true),
            ("login.example", "https://login.example./", true), (".example.:443", "https://login.example./", true),
            (".", "https://login.example./", false), ("0.0.1", "https://10.0.0.1/", false),
            ("10.0.0.0/8", "https://10.255.0.1/", true), ("10.0.0.0/8", "https://11.0.0.1/", false),
            ("192.168.8.0/21", "https://192.168.15.9/", true), ("192.168.8.0/21", "https://192.168.16.1/", false),
            ("10.0.0.0/8:8443", "https://10.0.0.1:8443/", true), ("10.0.0.0/8:8443", "https://10.0.0.1/", false),
            ("10.0.0.1/32", "https://10.0.0.1/", true), ("10.0.0.0/33", "https://10.0.0.0/", false),
            ("10.0.0.0/", "https://10.0.0.0/", false), ("10.0.0.0/8", "https://10.0.0.1.example/", false),
            ("fd00::/8", "https://[fdff::1]/", true), ("fd00::/8", "https://[fe00::1]/", false),
            ("fd00::/8", "https://10.0.0.1/", false), ("[fd00::/8]:443", "https://[fd12::1]/", true),
            ("fd00:0::1", "https://[fd00::1]/", true), ("fd00::1/129", "https://[fd00::1]/", false),
            ("", "https://localhost/", true), ("", "https://127.0.0.1:8443/", true), ("", "https://[::1]/", true),
        ])
    func usesNoProxyForTheHostsOfNoProxy(list: String, url: String, isDirect: Bool) throws {
        let settings = try NetworkSettings(environment: ["HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": list])
        #expect(try (settings.proxy(for: URLParts(url)) == nil) == isDirect)
    }

    @Test(
        arguments: [
            ("http://proxy:3128", "proxy", 3128, nil, nil), ("proxy:3128", "proxy", 3128, nil, nil),
            ("http://proxy", "proxy", 80, nil, nil), ("http://proxy/", "proxy", 80, nil, nil),
            ("http://me:p%40ss@proxy:8080", "proxy", 8080, "me", "p@ss"), ("http://me@proxy:1", "proxy", 1, "me", nil),
            ("http://[::1]:3128", "::1", 3128, nil, nil), ("HTTPS://proxy", "proxy", 443, nil, nil),
            ("socks5h://me:pw@proxy", "proxy", 1080, "me", "pw"), ("socks://proxy", "proxy", 1080, nil, nil),
            ("socks4a://proxy:9", "proxy", 9, nil, nil),
        ] as [(String, String, Int, String?, String?)])
    func readsTheProxysURL(url: String, host: String, port: Int, user: String?, password: String?) throws {
        let proxy = try ProxyServer(url, setting: "HTTPS_PROXY")
        #expect(proxy.host == host)
        #expect(proxy.port == port)
        #expect(proxy.user == user)
        #expect(proxy.password == password.map { Secret($0) })
    }

    /// A configuration is read again without the settings of the network being made again.
    @Test(arguments: [
        "http://h", "h:1", "http://h:", "http://h:0", "http://h:03128", "http://h:65536", "http://h:abc", "http://h:+1",
        "http://h:1:2", "http://[::1]", "http://[::1]:", "http://[::1]:1", "http://[::1]:x", "http://[::1]x",
        "http://[::1", "::1", "http://a]b", "http://a[b]", "http://me:p#w@h:1", "http://me:p?w@h:1",
        "http://me:p/w@h:1", "http://me:p%zz@h", "http://me:p@w@h", "http:h", "http://h/path", "http://h?query",
    ])
    func usesEachProxyThatTheConfigurationMayName(url: String) {
        guard (try? ProxyPlace(url)) != nil else { return }
        #expect(throws: Never.self) { try ProxyServer(url, setting: "network.proxy") }
    }

    @Test(arguments: [
        "ftp://me:hunter2@proxy", "socks6://me:hunter2@proxy", "http://me:hunter2@", "http://a b:hunter2",
        "http://me:hunter2@proxy:0", "me:hunter2@proxy:65536", "http://me:hunter2@proxy:99999999999999999999",
        "http://me:hunter2/x@proxy:1", "http://hunter2:12/x@proxy", "http://hunter2:12?x@proxy", "hunter2:12#x@proxy",
    ])
    func refusesAProxyItCannotUseWithoutNamingItsPassword(url: String) throws {
        do {
            _ = try NetworkSettings(environment: ["HTTPS_PROXY": url])
            Issue.record("\(url) was taken")
        } catch {
            #expect(error.code == .invalidDeveloperParameter)
            #expect(error.message.contains("HTTPS_PROXY"))
            #expect(!error.message.contains("hunter2"))
        }
    }

    @Test(
        arguments: [
            (["HTTPS_PROXY": "http://upper:1", "https_proxy": "http://lower:1"], nil, "lower"),
            (["HTTPS_PROXY": "http://upper:1", "https_proxy": " "], nil, "upper"),
            (["https_proxy": "http://lower:1"], "http://configured:1", "configured"),
            (["https_proxy": "nonsense://x"], "http://configured:1", "configured"),
            (["ALL_PROXY": "socks5h://upper:1"], nil, "upper"), (["all_proxy": "socks://lower:1"], nil, "lower"),
            (["ALL_PROXY": "http://upper:1", "all_proxy": "http://lower:1"], nil, "lower"),
            (["HTTPS_PROXY": "http://upper:1", "all_proxy": "http://lower:1"], nil, "upper"),
            (["ALL_PROXY": "nonsense://x", "https_proxy": "http://lower:1"], nil, "lower"),
            (["HTTP_PROXY": "http://upper:1", "http_proxy": "http://lower:1"], nil, nil), ([:], "", nil),
        ] as [([String: String], String?, String?)])
    func prefersTheConfigurationToTheEnvironment(
        environment: [String: String], configured: String?, host: String?
    ) throws {
        let settings = try NetworkSettings(environment: environment, proxy: configured)
        #expect(try settings.proxy(for: URLParts("https://login.example"))?.host == host)
    }

    @Test func prefersTheConfiguredCertificateAuthority() throws {
        let folder = try TemporaryFolder()
        let file = try TestCertificate(in: folder).certificateFile
        let settings = try NetworkSettings(environment: ["SSL_CERT_FILE": "/nowhere.pem"], caFile: file)
        #expect(settings.caFile == file)
    }

    @Test func findsTheFirstCertificateWithinFourMebibytes() throws {
        let folder = try TemporaryFolder()
        let certificate = try String(contentsOfFile: TestCertificate(in: folder).certificateFile, encoding: .utf8)
        func settings(comment length: Int) throws -> NetworkSettings {
            let file = folder.file("bundle.pem")
            try (String(repeating: "#", count: length) + "\n" + certificate).write(
                toFile: file, atomically: true, encoding: .utf8)
            return try NetworkSettings(environment: [:], caFile: file)
        }
        // The beginning of a file is read first: here a certificate is behind it, and on both sides of its end.
        for length in [0, 16 << 10, (16 << 10) - 100, 1 << 20] {
            #expect(try settings(comment: length).caFile != nil, "\(length)")
        }
        #expect(throws: TokenError.self) { try settings(comment: 4 << 20) }
    }

    @Test func namesTheVariableWhoseProxyItCannotUse() {
        for name in ["ALL_PROXY", "https_proxy"] {
            let error = #expect(throws: TokenError.self) { try NetworkSettings(environment: [name: "ftp://proxy"]) }
            #expect(error?.message.hasPrefix("\(name) names a proxy") == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: ["/nowhere/ca.pem", "/dev/null", "/"])
    func namesTheCertificateFileThatCannotBeRead(path: String) throws {
        for (environment, configured, setting) in [
            (["SSL_CERT_FILE": path], nil, "SSL_CERT_FILE"), ([:], path, "network.ca_file"),
        ] as [([String: String], String?, String)] {
            do {
                _ = try NetworkSettings(environment: environment, caFile: configured)
                Issue.record("\(path) was taken")
            } catch {
                #expect(error.code == .invalidDeveloperParameter)
                #expect(error.message.contains(path))
                #expect(error.message.contains(setting))
            }
        }
    }
}
