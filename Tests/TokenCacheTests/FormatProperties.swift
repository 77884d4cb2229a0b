// The fuzzer compiles the readers into a module of its own.
#if canImport(TokenCache)
    @testable internal import TokenCache
#endif

/// What holds for all bytes, whoever wrote them. Shared with the fuzzer in Tests/Fuzz, so it imports no tests.
///
/// Each returns what is broken; nil when all is well.
enum FormatProperties {
    /// JSON that was read says the same when it is written.
    static func brokenJSON(_ bytes: [UInt8]) -> String? {
        guard let tree = try? JSONReader.read(bytes) else { return nil }
        guard let again = try? JSONReader.read(Array(tree.json.utf8)) else { return "\(tree) cannot be read again" }
        return again == tree ? nil : "\(tree) became \(again)"
    }

    /// An archive that was read is read to the same end again.
    static func brokenArchive(_ bytes: [UInt8]) -> String? {
        guard let archive = try? ADALArchive(bytes) else { return nil }
        guard let again = try? ADALArchive(bytes) else { return "it cannot be read again" }
        return again.entries == archive.entries ? nil : "\(archive.entries) became \(again.entries)"
    }
}
