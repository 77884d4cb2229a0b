/// Draws QR codes with the program `qrencode`, if it is installed.
enum QRCode {
    /// The lines of a QR code with a URL; nil if there is no program to draw it, or the URL is too long for a terminal.
    static func drawing(of url: String) -> String? {
        guard url.utf8.count <= longestURL, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return Program.output(of: ["qrencode", "--type=UTF8", "--margin=2", "--output=-", "--", url])
            .flatMap { $0.contains("█") ? $0 : nil }
    }

    private static let longestURL = 200
}
