/// Tells the format of another library's cache by its first bytes that are not blank.
enum CacheDetection {
    /// The format of a file that begins so; nil if no library writes that, for example if the file is encrypted.
    static func format(ofFileThatBegins bytes: some Collection<UInt8>) -> FormatName? {
        let beginning = significant(bytes)
        switch beginning.first {
        case UInt8(ascii: "{"): return .msalJSON
        case UInt8(ascii: "["): return beginning.elementsEqual(keyedList) ? .msalJSON : .adalJSON
        // `bplist00`, and an XML property list, of which the agent says how it is converted.
        case UInt8(ascii: "b"), UInt8(ascii: "<"): return .adalArchive
        default: return nil
        }
    }

    /// Whether a file that begins so is a text in UTF-16, as PowerShell writes it. No library's cache is.
    static func isUTF16(_ beginning: [UInt8]) -> Bool {
        beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF])
    }

    /// The bytes of a file's beginning that determine its format: those that are not blank, or as many of them as are needed.
    static func significant(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let ink = bytes.lazy.filter { !byteOrderMark.contains($0) && !" \t\r\n".utf8.contains($0) }
        return Array(ink.prefix(keyedList.count))
    }

    /// Whether the format is certain: no further bytes change it.
    static func isSufficient(_ significant: [UInt8]) -> Bool {
        guard let first = significant.first else { return false }
        return first != UInt8(ascii: "[") || significant.count >= keyedList.count
    }

    /// The beginning of a cache of MSAL for .NET 2.x: a list of sections, each with a key and a value.
    private static let keyedList = Array(#"[{"Key""#.utf8)
}
