internal import AgentSocket

@testable internal import TokenAgent

/// Properties that hold for what a process, its sandbox or its service manager may write about it: the files of `/proc`, `.flatpak-info`, and
/// AppArmor's labels. Shared with the fuzzer in Tests/Fuzz, so this file does not import Testing.
enum PeerTextProperties {
    /// Returns a description of the violation; nil if there is none.
    static func broken(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        if let unit = ControlGroup.unit(text) {
            guard unit.hasSuffix(".service") || unit.hasSuffix(".scope"), !unit.contains("/") else {
                return "\(unit.debugDescription) is a unit"
            }
        }
        for (name, prefix) in [(SandboxApp.flatpak(text), "flatpak:"), (SandboxApp.snap(text), "snap:")] {
            guard let name else { continue }
            let rest = name.utf8.dropFirst(prefix.utf8.count)
            guard name.hasPrefix(prefix), !rest.isEmpty, rest.count <= 255, rest.allSatisfy(isInName) else {
                return "\(name.debugDescription) is an app"
            }
        }
        // A process has an ID in at least one namespace, unless the line is missing or empty.
        let status = ProcessStatus(text)
        guard status.namespaceDepth >= 0, status.namespaceDepth <= bytes.count + 1 else {
            return "\(status.namespaceDepth) namespaces"
        }
        if let start = ProcessStart.time(text), !text.contains(String(start)) {
            // Leading zeros and a sign are the only other spellings of a number.
            guard text.contains("0") || text.contains("+") else { return "the start \(start)" }
        }
        return nil
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
