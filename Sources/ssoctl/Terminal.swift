internal import Foundation

/// Standard output for what was asked for, standard error for everything else.
enum Terminal {
    static func print(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    static func printError(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    static func print(json value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(value) else { return }
        print(String(decoding: json, as: UTF8.self))
    }

    /// A moment for people, in their own time zone.
    static func moment(_ seconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
    }
}
