internal import Foundation
internal import TOMLKit
internal import TokenModel

/// The configuration file: `[network]` with `ca_file` and `proxy`.
struct Configuration {
    private(set) var caFile: String?
    private(set) var proxy: String?

    /// - Parameter isRequired: whether a missing file is an error; the standard one need not be there.
    /// - Throws: `invalidDeveloperParameter` (-51112) that names the file and what is wrong with it.
    init(path: String, isRequired: Bool) throws(TokenError) {
        guard isRequired || FileManager.default.fileExists(atPath: path) else { return }
        do {
            let file = try File(path)
            caFile = file.network?.caFile
            proxy = file.network?.proxy
        } catch {
            throw TokenError(.invalidDeveloperParameter, "the configuration \(path) cannot be read: \(error)")
        }
    }

    private struct File: Decodable {
        var network: Network?

        struct Network: Decodable {
            var caFile: String?
            var proxy: String?

            enum CodingKeys: String, CodingKey {
                case caFile = "ca_file"
                case proxy
            }
        }

        init(_ path: String) throws {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            self = try TOMLDecoder().decode(File.self, from: text)
        }
    }
}
