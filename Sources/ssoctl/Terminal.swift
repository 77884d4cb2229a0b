internal import PosixFiles
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Standard output for what was asked for, standard error for everything else.
enum Terminal {
    static func print(_ text: String) { StandardStream.output.write(text + "\n") }

    static func printError(_ text: String) { StandardStream.error.write(text + "\n") }

    static func print(json value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(value) else { return }
        print(String(decoding: json, as: UTF8.self))
    }

    /// A moment for people, in their own time zone.
    static func moment(_ seconds: Int64) -> String {
        LocalTimeZone.current.time(at: seconds).text
    }
}

extension PrivateFiles {
    /// The files that are named on the command line.
    static let commandLine = PrivateFiles(errorCode: .invalidDeveloperParameter)
}
