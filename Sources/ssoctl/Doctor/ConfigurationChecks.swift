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
            do throws(TokenError) { try settings.configuration.requireDefaultApp() } catch {
                throw CommandFailure(error)
            }
            // The file of certificate authorities has a check of its own.
            try settings.requireUsable()
            checks.append(
                HealthCheck(
                    name: "configuration", ok: true,
                    detail: files.isEmpty ? "there are no files" : files.joined(separator: ", ")))
        } catch {
            let hint = error.nextCommand ?? error.error.details.nextCommand
            checks.append(HealthCheck(name: "configuration", ok: false, detail: error.error.statement, hint: hint))
        }
        checks += [proxy(configuration), certificates(configuration)]
        if !knowsClock { checks.append(clock) }
        return checks + otherCaches
    }

    // MARK: The network

    private static func proxy(_ configuration: Configuration?) -> HealthCheck {
        let name = "proxy"
        let configured = configuration?.proxy?.value.trimmedNonEmpty.map { (variable: "[network] proxy", url: $0) }
        guard let (setting, url) = configured ?? NetworkEnvironment.proxy(AgentEnvironment.value) else {
            return HealthCheck(name: name, ok: true, detail: "none")
        }
        let place: ProxyPlace
        do throws(ProxyPlace.Defect) { place = try ProxyPlace(url) } catch {
            return HealthCheck(name: name, ok: false, detail: "\(setting) \(error.reason)", hint: error.remedy)
        }
        let isVariable = configured == nil
        return HealthCheck(
            name: name, ok: true, detail: "\(place.text) (\(setting)\(isVariable ? " of this shell" : ""))",
            hint: isVariable ? hintForUnit("proxy") : nil)
    }

    /// The hint for a variable of this shell, in place of which the configuration has a key; nil if no unit is installed.
    private static func hintForUnit(_ key: String) -> String? {
        ServiceUnit.state() == .notInstalled
            ? nil : "the unit does not have the variables of a shell: set \(key) in the table [network]"
    }

    private static func certificates(_ configuration: Configuration?) -> HealthCheck {
        let name = "certificates"
        let configured = configuration?.caFile?.value.trimmedNonEmpty
        let place = configured.flatMap { _ in configuration?.caFile.map { "\($0.place): " } } ?? ""
        guard let path = configured ?? AgentEnvironment.value("SSL_CERT_FILE") else {
            return HealthCheck(name: name, ok: true, detail: "those that the system trusts")
        }
        do throws(TrustedFileError) {
            let file = try FileDescriptor.trusted(path)
            let bytes = try FileDescriptor.attempt { () throws(SystemError) in
                try file.readToEnd(limit: PEMCertificates.longestFile)
            }
            guard PEMCertificates.canBeRead(bytes) else {
                return unreadableCertificates(name, path, place, bytes)
            }
            let count = Phrases.count(PEMCertificates.count(in: bytes), "certificate")
            let origin = configured == nil ? " (SSL_CERT_FILE of this shell)" : ""
            return HealthCheck(
                name: name, ok: true, detail: "\(path) has \(count)\(origin)",
                hint: configured == nil ? hintForUnit("ca_file") : nil)
        } catch {
            return HealthCheck(
                name: name, ok: false, detail: "\(place)\(path): \(error.problem.statement)",
                hint: error.problem.remedy?.command
                    ?? "name the file of the certificate authorities in [network] ca_file, or unset SSL_CERT_FILE")
        }
    }

    /// The check of a file with which the agent does not start.
    private static func unreadableCertificates(
        _ name: String, _ path: String, _ place: String, _ bytes: [UInt8]
    ) -> HealthCheck {
        guard PEMCertificates.count(in: bytes) == 0 else {
            return HealthCheck(
                name: name, ok: false, detail: "\(place)the first certificate of \(path) cannot be decoded",
                hint: "write the file again from its source")
        }
        return HealthCheck(
            name: name, ok: false, detail: "\(place)\(path) has no certificate in the PEM format",
            hint: "if it is in the DER format: openssl x509 -inform der -in \(path.shellWord) -out FILE.pem")
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
