#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// How the agent reads the environment and files that describe its network. `ssoctl doctor` reads them in the same way.
package enum NetworkEnvironment {
    /// The variables that may have the URL of a proxy. The first one with a value counts, as for curl.
    package static let proxyVariables = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    /// The URL of the proxy for HTTPS, and the variable that has it; nil if there is none. Blank values count as none.
    ///
    /// - Parameter value: returns the value of a variable; nil if it is not set.
    package static func proxy(_ value: (String) -> String?) -> (variable: String, url: String)? {
        for name in proxyVariables {
            if let url = value(name)?.trimmedNonEmpty { return (name, url) }
        }
        return nil
    }
}

/// The certificates in a file in the PEM format (RFC 7468).
package enum PEMCertificates {
    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)

    /// Whether the file has a certificate, and the first one can be decoded. A bundle has hundreds; the TLS library decodes them all
    /// before the first request.
    package static func canBeRead(_ file: [UInt8]) -> Bool {
        guard let start = file.firstRange(of: begin),
            let stop = file[start.upperBound...].firstRange(of: end),
            let der = Data(
                base64Encoded: Data(file[start.upperBound..<stop.lowerBound]), options: .ignoreUnknownCharacters)
        else { return false }
        // A certificate is a SEQUENCE (RFC 5280 section 4.1).
        return der.count > 64 && der.first == 0x30
    }

    /// The number of blocks that begin a certificate.
    package static func count(in file: [UInt8]) -> Int { file.ranges(of: begin).count }
}
