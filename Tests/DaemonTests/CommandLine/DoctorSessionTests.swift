internal import Foundation
internal import TestSupport
internal import Testing

#if os(Linux)
    /// What `ssoctl doctor` reports of the user's session: the units, lingering and the keyring. The programs that it asks are scripts here,
    /// which print what those of systemd and D-Bus print; `UserManagerTests` has a systemd.
    @Suite(.bounded) struct DoctorSessionTests {
        private static let start = "systemctl --user enable --now sso-agent.socket"

        /// A home in which the unit of the socket is installed.
        private static func homeWithUnit() throws -> OnDemandHome {
            let home = try OnDemandHome()
            for path in ["run/systemd", ".config/systemd", ".config/systemd/user", "bin"] { try home.makeFolder(path) }
            try home.write("", to: "run/systemd/private")
            try home.write("", to: ".config/systemd/user/sso-agent.socket")
            return home
        }

        /// The first command of a new user may be this one.
        @Test func checksTheFolderThatTheStartedAgentHasMade() async throws {
            let ended = try await OnDemandHome().run(#"exec "$0" doctor --json --authority https://127.0.0.1:9/common"#)
            let folder = try DoctorTests.check("socket folder", in: ended.output)
            #expect(folder.ok && folder.hint == nil, "\(folder)")
        }

        struct Units: Sendable, CustomTestStringConvertible {
            var socket: (active: String, file: String)
            var service = "inactive"
            var ok = true
            var hasFile = true
            let detail: String
            var hint: String? = DoctorSessionTests.start
            var testDescription: String { detail }

            /// What systemd prints of both units.
            var text: String {
                """
                Id=sso-agent.socket
                ActiveState=\(socket.active)
                UnitFileState=\(socket.file)

                Id=sso-agent.service
                ActiveState=\(service)
                UnitFileState=static
                """
            }
        }

        @Test(arguments: [
            Units(socket: ("active", "enabled"), detail: "sso-agent.socket is active and enabled", hint: nil),
            Units(socket: ("active", "enabled-runtime"), detail: "sso-agent.socket is active and enabled", hint: nil),
            Units(
                socket: ("active", "disabled"), service: "active",
                detail: "sso-agent.socket is active, but not after the next log-in"),
            Units(
                socket: ("active", "enabled"), ok: false, hasFile: false,
                detail: "sso-agent.socket is active, and the file of its socket is gone",
                hint: "systemctl --user restart sso-agent.socket"),
            Units(
                socket: ("inactive", "disabled"), service: "active",
                detail: "sso-agent.service is active; nothing starts it again if it is stopped"),
            Units(
                socket: ("inactive", "disabled"), ok: false,
                detail: "sso-agent.socket is installed, so that programs start no agent, and it is not active"),
            Units(
                socket: ("failed", "enabled"), ok: false,
                detail: "sso-agent.socket is installed, so that programs start no agent, and it is not active"),
        ])
        func reportsTheUnits(_ units: Units) async throws {
            let home = try Self.homeWithUnit()
            let question = "--user show --property=Id,UnitFileState,ActiveState sso-agent.socket sso-agent.service"
            try await home.makeProgram(
                "systemctl",
                "[ \"$*\" = '\(question)' ] || exit 1\ncat <<'EOF'\n\(units.text)\nEOF")
            let ended = try await home.run((units.hasFile ? Self.makeSocket : "") + Self.doctor)
            let check = try DoctorTests.check("service unit", in: ended.output)
            #expect(
                check == DoctorTests.Check(name: "service unit", ok: units.ok, detail: units.detail, hint: units.hint))
        }

        @Test func reportsThatSystemdDoesNotAnswer() async throws {
            let home = try Self.homeWithUnit()
            try await home.makeProgram("systemctl", "echo 'Failed to connect to bus' >&2; exit 1")
            let check = try DoctorTests.check("service unit", in: try await home.run(Self.doctor).output)
            #expect(!check.ok && check.detail == "systemd does not answer", "\(check)")
            #expect(check.hint == "systemctl --user status")
        }

        @Test func saysWhyProgramsStartNoAgent() async throws {
            let ended = try await OnDemandHome().run(Self.doctor)
            let check = try DoctorTests.check("service unit", in: ended.output)
            #expect(check.ok, "\(check)")
            #expect(check.detail.hasSuffix(", and SSO_AGENT_START keeps programs from starting the agent"), "\(check)")
            #expect(check.hint == "start the agent at log-in, or unset SSO_AGENT_START")
        }

        /// Makes the file of the unit's socket, at which nobody listens.
        private static let makeSocket = """
            mkdir -m 700 "$XDG_RUNTIME_DIR/sso-agent"
            python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' \
                "$XDG_RUNTIME_DIR/sso-agent/agent.sock"

            """

        /// Prints the checks, and starts no agent.
        private static let doctor = """
            export PATH="$HOME/bin:$PATH" SSO_AGENT_START=0
            "$0" doctor --json
            """

        // MARK: In a system of its own

        /// A command of root's that runs the words after it in a system that systemd has started, as far as its folders show it.
        private static func withSystem(_ script: String) -> [String] {
            let mount = """
                umask 022
                mount -t tmpfs -o mode=755 none /run && mkdir -p /run/systemd/system || exit 70
                mount -t tmpfs -o mode=755 none /var/lib/systemd || exit 71
                mkdir -p -m 755 /run/user && mkdir -m 700 "$0" && chown \(OtherUser.id) "$0" || exit 72
                \(script)
                exec env -u XDG_RUNTIME_DIR "$@"
                """
            let folder = "/run/user/\(OtherUser.id)"
            return ["unshare", "--mount", "--propagation", "private", "bash", "-c", mount, folder]
        }

        @Test(.enabled(if: Sandbox.isPossible, "only root can make mounts")) func reportsLingering() async throws {
            let home = try OnDemandHome()
            let off = try DoctorTests.check(
                "linger", in: await home.run(Self.doctor, within: Self.withSystem("")).output)
            #expect(off.ok && off.detail == "off: the agent ends with the last session", "\(off)")
            #expect(off.hint == "for services and cron jobs that need tokens: loginctl enable-linger")
            let enable = "mkdir /var/lib/systemd/linger && touch /var/lib/systemd/linger/$(id -un \(OtherUser.id))"
            let on = try DoctorTests.check(
                "linger", in: await home.run(Self.doctor, within: Self.withSystem(enable)).output)
            #expect(on == DoctorTests.Check(name: "linger", ok: true, detail: "on: the agent goes on after a log-out"))
        }

        /// As in a program that cron or `su` has started: systemctl and busctl need the variable.
        @Test(.enabled(if: Sandbox.isPossible, "only root can make mounts"))
        func findsTheSessionWithoutTheVariableOfTheRuntimeFolder() async throws {
            let home = try Self.homeWithUnit()
            let folder = "/run/user/\(OtherUser.id)"
            let isFound = "[ \"$XDG_RUNTIME_DIR\" = \(folder) ] || exit 1\n"
            let units = Units(socket: ("active", "disabled"), detail: "")
            try await home.makeProgram("systemctl", "\(isFound)cat <<'EOF'\n\(units.text)\nEOF")
            try await home.makeProgram("busctl", "\(isFound)echo 'b true'")
            try await home.makeProgram("secret-tool", "exit 1")
            let make = """
                touch "$0/bus"; mkdir "$0/systemd" && touch "$0/systemd/private"
                XDG_RUNTIME_DIR=$0
                \(Self.makeSocket)
                chown -R \(OtherUser.id) "$0/sso-agent"
                """
            let ended = try await home.run(Self.doctor, within: Self.withSystem(make))
            let unit = try DoctorTests.check("service unit", in: ended.output)
            #expect(unit.ok && unit.detail == "sso-agent.socket is active, but not after the next log-in", "\(unit)")
            #expect(unit.hint == "XDG_RUNTIME_DIR=\(folder) \(Self.start)")
            let keyring = try DoctorTests.check("secret service", in: ended.output)
            #expect(keyring.detail == "the key can come from the desktop's keyring", "\(keyring)")
        }
    }

    extension OnDemandHome {
        /// Makes a folder that belongs to the user.
        fileprivate func makeFolder(_ name: String) throws {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
            if OtherUser.isPossible { chown(folder.file(name), OtherUser.id, OtherUser.id) }
        }

        /// Makes a program of the user's in the folder `bin`, a script of sh.
        fileprivate func makeProgram(_ name: String, _ script: String) async throws {
            let program = try await folder.makeProgram("bin/\(name)", script)
            if OtherUser.isPossible { chown(program, OtherUser.id, OtherUser.id) }
        }
    }
#endif
