/// The start of a process, as `/proc/PID/stat` has it.
enum ProcessStart {
    /// The time, in ticks since boot.
    static func time(_ text: String) -> UInt64? {
        // The name of the program, in parentheses, may contain anything.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        // The first of these fields is the third of proc_pid_stat(5).
        return fields.count > 19 ? UInt64(fields[19]) : nil
    }
}

/// The control group of a process, as systemd arranges them.
enum ControlGroup {
    /// The unit in the content of `/proc/PID/cgroup`: below the user's manager the user's unit, else the system's. Nil if there is
    /// none.
    ///
    /// As in systemd, the first unit below the slices counts: groups below it are the service's own, which may have any name.
    static func unit(_ text: String) -> String? {
        var path: Substring?
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            if parts[1] == "name=systemd" || (parts[0] == "0" && parts[1].isEmpty && path == nil) { path = parts[2] }
        }
        guard let path else { return nil }
        var names = path.split(separator: "/")[...]
        names = names.drop { $0.hasSuffix(".slice") }
        if let first = names.first, first.hasPrefix("user@"), first.hasSuffix(".service"), names.count > 1 {
            names = names.dropFirst().drop { $0.hasSuffix(".slice") }
        }
        guard let unit = names.first, unit.hasSuffix(".service") || unit.hasSuffix(".scope") else { return nil }
        return String(unit)
    }
}

/// The names of sandboxed apps.
enum SandboxApp {
    /// The app in the content of `.flatpak-info`: the key `name` of the group `[Application]`.
    static func flatpak(_ text: String) -> String? {
        var isInGroup = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                isInGroup = line == "[Application]"
            } else if isInGroup, line.hasPrefix("name=") {
                return name(line.dropFirst(5)).map { "flatpak:\($0)" }
            }
        }
        return nil
    }

    /// The Snap in an AppArmor label such as `snap.notes.notes (enforce)`. A profile that only complains confines nothing.
    static func snap(_ label: String) -> String? {
        let words = label.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[1] == "(enforce)" else { return nil }
        let parts = words[0].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "snap" else { return nil }
        return name(parts[1]).map { "snap:\($0)" }
    }

    private static func name(_ text: Substring) -> Substring? {
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isName && !text.isEmpty && text.utf8.count <= 255 ? text : nil
    }
}
