internal import TokenModel

/// Properties of the JSON reader that hold for all inputs. Shared with the fuzzer in Tests/Fuzz, so this file does not import
/// Testing.
///
/// Each check returns a description of the violation; nil if there is none.
enum JSONProperties {
    /// JSON that was read is equal after it is written and read again.
    static func broken(_ bytes: [UInt8]) -> String? {
        guard let tree = try? JSONReader.read(bytes) else { return nil }
        guard let again = try? JSONReader.read(Array(tree.json.utf8)) else { return "\(tree) cannot be read again" }
        return again == tree ? nil : "\(tree) became \(again)"
    }
}
