internal import AgentConfiguration
internal import AgentSocket
internal import CAgentSystem
internal import PosixFiles
internal import TokenModel

/// Checks of the configuration and of what other tools have left. None of them makes a request to a network.
enum ConfigurationChecks {
    /// - Parameter knowsClock: whether the agent has compared the clock with that of a provider.
    static func all(knowsClock: Bool) -> [HealthCheck] {
        var checks: [HealthCheck] = []
        var configuration: Configuration?
        do throws(CommandFailure) {
            let settings = try Settings.read()
            configuration = settings.configuration
            let files = settings.configuration.files
            checks.append(
                HealthCheck(
                    name: "configuration", ok: true,
                    detail: files.isEmpty ? "there are no files" : files.joined(separator: ", ")))
        } catch {
            checks.append(
                HealthCheck(name: "configuration", ok: false, detail: error.error.message, hint: error.nextCommand))
        }
        checks += [proxy(configuration), certificates(configuration)]
        if !knowsClock { checks.append(clock) }
        return checks + otherCaches
    }

    // MARK: The network

    private static func proxy(_ configuration: Configuration?) -> HealthCheck {
        let name = "proxy"
        let variables = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        let settings = [("[network] proxy", configuration?.proxy)] + variables.map { ($0, AgentEnvironment.value($0)) }
        guard let (setting, url) = settings.lazy.compactMap({ name, url in url.map { (name, $0) } }).first else {
            return HealthCheck(name: name, ok: true, detail: "none")
        }
        guard let place = ProxyPlace(url) else {
            return HealthCheck(
                name: name, ok: false, detail: "\(setting) is not the URL of a proxy",
                hint: "write it as in http://proxy.example:3128, with \(ProxyPlace.schemes.joined(separator: ", "))")
        }
        let isVariable = !setting.hasPrefix("[")
        return HealthCheck(
            name: name, ok: true, detail: "\(place.text) (\(setting)\(isVariable ? " of this shell" : ""))",
            hint: isVariable && ServiceUnit.state() != .notInstalled
                ? "the unit does not have the variables of a shell: set proxy in the table [network]" : nil)
    }

    private static func certificates(_ configuration: Configuration?) -> HealthCheck {
        let name = "certificates"
        guard let path = configuration?.caFile ?? AgentEnvironment.value("SSL_CERT_FILE") else {
            return HealthCheck(name: name, ok: true, detail: "those that the system trusts")
        }
        do throws(TrustedFileError) {
            let file = try FileDescriptor.trusted(path)
            let bytes: [UInt8]
            do throws(SystemError) { bytes = try file.readToEnd(limit: 4 << 20) } catch {
                throw TrustedFileError(error)
            }
            let count = String(decoding: bytes, as: UTF8.self).ranges(of: "-----BEGIN CERTIFICATE-----").count
            guard count > 0 else {
                return HealthCheck(
                    name: name, ok: false, detail: "\(path) has no certificate in the PEM format",
                    hint:
                        "if it is in the DER format: openssl x509 -inform der -in \(path.shellWord) -out FILE.pem"
                )
            }
            return HealthCheck(name: name, ok: true, detail: "\(path) has \(Phrases.count(count, "certificate"))")
        } catch {
            return HealthCheck(
                name: name, ok: false, detail: "\(path): \(error)",
                hint: "name the file of the certificate authorities in [network] ca_file, or unset SSL_CERT_FILE")
        }
    }

    /// The clock, as the kernel knows it: for the case that no provider has answered.
    private static var clock: HealthCheck {
        switch agent_clock_is_synchronised() {
        case 1: HealthCheck(name: "clock", ok: true, detail: "the system keeps it right")
        case 0:
            HealthCheck(
                name: "clock", ok: true, detail: "nothing keeps it right, as far as the kernel knows",
                hint: "timedatectl set-ntp true")
        default: HealthCheck(name: "clock", ok: true, detail: "not compared: no provider has answered")
        }
    }

    // MARK: Other tools

    /// Tokens that other tools have left in plain text. Only what other users can read is a failure.
    private static var otherCaches: [HealthCheck] {
        let found = FoundCaches()
        let name = "other caches"
        guard !found.caches.isEmpty else {
            return [
                HealthCheck(
                    name: name, ok: true, detail: "no tool has left tokens in plain text where they usually are")
            ]
        }
        return found.caches.map { cache in
            let what = "\(cache.tool.rawValue) keeps tokens in plain text: \(cache.file)"
            guard !cache.isReadableByOthers else {
                return HealthCheck(
                    name: name, ok: false, detail: "\(what), which other users can read",
                    hint: CommandLineWords("chmod", "600", cache.file).text)
            }
            return HealthCheck(name: name, ok: true, detail: what, hint: cache.importCommand)
        }
    }
}

/// The scheme and the host of a proxy, without the password that its URL may have.
struct ProxyPlace: Equatable {
    static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    let text: String

    /// Nil if it is not the URL of a proxy.
    init?(_ url: String) {
        let parts = url.ranges(of: "://").first.map { (url[..<$0.lowerBound].lowercased(), url[$0.upperBound...]) }
        let (scheme, rest) = parts ?? ("http", url[...])
        let server = rest.prefix { !"/?#".contains($0) }
        let host = server.lastIndex(of: "@").map { server[server.index(after: $0)...] } ?? server
        let isHost = !host.isEmpty && host.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._:[]".utf8.contains($0) }
        guard Self.schemes.contains(scheme), isHost, host.first != ":" else { return nil }
        text = "\(scheme)://\(host)"
    }
}
