internal import TokenModel

/// Tells the format of another library's cache by its first byte that is not blank.
enum CacheDetection {
    /// The format of a file that begins so; nil if no library writes that, for example if the file is encrypted.
    static func format(ofFileThatBegins bytes: some Collection<UInt8>) -> FormatName? {
        switch significant(bytes) {
        case UInt8(ascii: "{"): .msalJSON
        case UInt8(ascii: "["): .adalJSON
        // `bplist00`, and an XML property list, of which the agent says how it is converted.
        case UInt8(ascii: "b"), UInt8(ascii: "<"): .adalArchive
        default: nil
        }
    }

    /// Whether the bytes are blank, so that those behind them tell the format.
    static func isBlank(_ bytes: some Collection<UInt8>) -> Bool { significant(bytes) == nil }

    private static func significant(_ bytes: some Collection<UInt8>) -> UInt8? {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return bytes.first { !byteOrderMark.contains($0) && !" \t\r\n".utf8.contains($0) }
    }
}
