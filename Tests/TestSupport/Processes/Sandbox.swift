internal import Foundation

/// A process with a root directory, mounts and process IDs of its own, as a Flatpak has them. Only root can start one.
package struct Sandbox: Sendable {
    /// The form of the file `.flatpak-info` in the sandbox.
    package enum Info: String, Sendable, CaseIterable {
        /// As Flatpak makes it: mounted read-only.
        case mounted
        /// An ordinary file, as a container can have it.
        case written
        /// Mounted, but writable.
        case writable
        /// A symbolic link to a mounted file.
        case link
        case none
    }

    private let process: TestProcess
    private let folder: TemporaryFolder

    /// Whether tests can mount file systems, and make namespaces. Root of most containers can do neither.
    package static let isPossible: Bool = {
        #if os(Linux)
            guard geteuid() == 0, let folder = try? TemporaryFolder() else { return false }
            return mount("tmpfs", folder.path, "tmpfs", 0, nil) == 0 && umount2(folder.path, Int32(MNT_DETACH)) == 0
        #else
            return false
        #endif
    }()

    /// Starts a program in a sandbox, which sees the folders of the system and those in `folders`, and nothing else.
    ///
    /// - Parameter program: the words of the command; by default one that does nothing.
    package static func run(
        info: String, kind: Info = .mounted, folders: [String] = [], environment: [String: String]? = nil,
        _ program: [String]
    ) throws -> Sandbox {
        let folder = try TemporaryFolder()
        try info.write(toFile: folder.file("info"), atomically: false, encoding: .utf8)
        let script = """
            set -e
            info=$0 root=$1 kind=$2 folders=$3
            shift 3
            mkdir "$root"
            mount -t tmpfs none "$root"
            for folder in /usr /bin /lib /lib64 /etc /dev /root $folders; do
                [ -e "$folder" ] || continue
                mkdir -p "$root$folder"
                mount --rbind "$folder" "$root$folder"
            done
            mkdir "$root/proc" "$root/other"
            mount -t proc none "$root/proc"
            case $kind in
            mounted | writable) : >"$root/.flatpak-info"; mount --bind "$info" "$root/.flatpak-info" ;;
            written) cp "$info" "$root/.flatpak-info" ;;
            link)
                : >"$root/other/info"; mount --bind "$info" "$root/other/info"
                mount -o remount,bind,ro "$root/other/info"
                ln -s other/info "$root/.flatpak-info" ;;
            esac
            [ "$kind" != mounted ] || mount -o remount,bind,ro "$root/.flatpak-info"
            exec chroot "$root" "$@"
            """
        let process = try TestProcess(
            "/usr/bin/env",
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", script]
                + [folder.file("info"), folder.file("root"), kind.rawValue, folders.joined(separator: " ")]
                + program,
            environment: environment)
        return Sandbox(process: process, folder: folder)
    }

    /// Starts a sandbox that does nothing, and returns when it is complete.
    package static func start(info: String, kind: Info = .mounted) async throws -> Sandbox {
        let sandbox = try run(info: info, kind: kind, ["sh", "-c", "echo ready; exec sleep 1000"])
        try await sandbox.process.waitForOutput("ready")
        return sandbox
    }

    /// The ID of the process in the sandbox, outside of it.
    package var processID: Int32 {
        get throws {
            let path = "/proc/\(process.processID)/task/\(process.processID)/children"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return Int32(text.split(separator: " ").first ?? "") ?? -1
        }
    }

    package func finish() async throws -> (status: Int32, output: String, errors: String) {
        try await process.finish()
    }

    package func stop() async throws { try await process.killHard() }
}
