internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// What can be found in the memory of the agent's process.
#if os(Linux)
    @Suite(.bounded, .disabled(if: Sanitizer.isOn, "released memory stays")) struct MemoryTests {
        /// Sign-ins, renewals, an export and an import each leave refresh tokens in buffers of their own.
        @Test(arguments: [true, false]) func hasNoRefreshTokenAfterEverybodyHasSignedOut(usesTLS: Bool) async throws {
            try await AgentProcessFixture.with(usesTLS: usesTLS) { f in
                // Another process may read the memory of this one, also if the test does not run as root.
                let agent = try await f.agent(["--allow-debugging"])
                let users = ["alice@contoso.com", "bob@fabrikam.com"]
                let app = ["--client-id", "app-1", "--authority", "\(f.url)/common"]
                for user in users {
                    try await ssoctl(f, ["sign-in", "--browser", "--scope", "User.Read", "--login-hint", user] + app)
                    for scope in ["Mail.Read", "Files.Read"] {
                        try await ssoctl(f, ["token", "--username", user, "--scope", scope, "--force-refresh"] + app)
                    }
                }
                // Before the import: at its end, the tokens of the accounts that it has changed are in the store only.
                #expect(try refreshTokens(in: agent.processID) > 0)
                let file = f.folder.file("cache.json")
                try await ssoctl(f, ["export", "--format", "msal-json", "--include-secrets", "-o", file])
                try await ssoctl(f, ["import", "--format", "msal-json", file])
                for user in users {
                    try await ssoctl(f, ["sign-out", "--username", user, "--client-id", "app-1", "--wipe"])
                }
                #expect(try await AgentClient(socketPath: f.socketPath).status().accounts == 0)
                #expect(try await tokensLeft(in: agent.processID) == 0)
            }
        }

        /// An error of the provider is returned again for a while, by the token that it has refused.
        @Test func hasNoRefusedRefreshTokenAfterASignOut() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent(["--allow-debugging"])
                let app = ["--client-id", "app-1", "--authority", "\(f.url)/common"]
                let alice = ["--username", "alice@contoso.com"]
                try await ssoctl(
                    f, ["sign-in", "--browser", "--scope", "User.Read", "--login-hint", "alice@contoso.com"] + app)
                for refusal in [
                    Fault.error("interaction_required", grant: .refreshToken), .status(503, grant: .refreshToken),
                ] {
                    f.emulator.control.inject(refusal)
                    let refused = try await f.run("ssoctl", ["token", "--scope", "Mail.Read"] + alice + app)
                    #expect(refused.status != 0)
                }
                #expect(try refreshTokens(in: agent.processID) > 0)
                try await ssoctl(f, ["sign-out", "--client-id", "app-1", "--wipe"] + alice)
                #expect(try await tokensLeft(in: agent.processID) == 0)
            }
        }

        /// The thread that has encoded the export is idle afterwards: no later call overwrites its stack.
        @Test func hasNoRefreshTokenAfterAnExport() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent(["--allow-debugging"])
                let app = ["--client-id", "app-1", "--authority", "\(f.url)/common"]
                for number in 1...5 {
                    let user = "user\(number)@contoso.com"
                    try await ssoctl(f, ["sign-in", "--browser", "--scope", "User.Read", "--login-hint", user] + app)
                    let file = f.folder.file("cache-\(number).json")
                    try await ssoctl(f, ["export", "--format", "msal-json", "--include-secrets", "-o", file])
                    #expect(try refreshTokens(in: agent.processID) > 0)
                    try await ssoctl(f, ["sign-out", "--username", user, "--client-id", "app-1", "--wipe"])
                    #expect(try await tokensLeft(in: agent.processID) == 0, "\(number)")
                }
            }
        }

        private func ssoctl(_ f: AgentProcessFixture, _ arguments: [String]) async throws {
            let ended = try await f.run("ssoctl", arguments)
            #expect(ended.status == 0, "\(arguments): \(ended.errors)")
        }

        /// The number of copies that stay: a thread of the agent may have to run once more after the reply to release what it has used.
        private func tokensLeft(in processID: Int32) async throws -> Int {
            var count = try refreshTokens(in: processID)
            let deadline = ContinuousClock.now + .seconds(60)
            while count > 0, ContinuousClock.now < deadline {
                await letOthersRun()
                count = try refreshTokens(in: processID)
            }
            return count
        }

        /// The number of copies of refresh tokens in the writable memory of a process. Those of the emulator begin with a mark, and
        /// at least 43 characters of base64url follow.
        private func refreshTokens(in processID: Int32) throws -> Int {
            let memory = open("/proc/\(processID)/mem", O_RDONLY | O_CLOEXEC)
            try #require(memory >= 0)
            defer { close(memory) }
            var count = 0
            for line in try regions(of: processID).split(separator: "\n") {
                let words = line.split(separator: " ", omittingEmptySubsequences: true)
                let ends = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
                guard words.count > 1, words[1].hasPrefix("rw"), ends.count == 2 else { continue }
                var bytes = [UInt8](repeating: 0, count: ends[1] - ends[0])
                // Memory that cannot be read belongs to the kernel.
                let length = pread(memory, &bytes, bytes.count, ends[0])
                if length > 0 { count += copies(in: bytes.prefix(length)) }
            }
            return count
        }

        /// The content of `/proc/PID/maps`, of which the kernel gives a page at a time.
        private func regions(of processID: Int32) throws -> String {
            let file = open("/proc/\(processID)/maps", O_RDONLY | O_CLOEXEC)
            try #require(file >= 0)
            defer { close(file) }
            var (text, page) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
            while case let length = read(file, &page, page.count), length > 0 { text += page.prefix(length) }
            return String(decoding: text, as: UTF8.self)
        }

        private func copies(in bytes: ArraySlice<UInt8>) -> Int {
            bytes.withUnsafeBytes { memory in
                guard let first = memory.baseAddress else { return 0 }
                let (mark, length) = (Array("1.A".utf8), 46)
                var (count, offset) = (0, 0)
                // Most of the memory is empty, which the C library passes over quickly.
                while offset + length <= memory.count,
                    let place = memchr(first + offset, Int32(mark[0]), memory.count - offset - length + 1)
                {
                    let token = UnsafeRawBufferPointer(start: place, count: length)
                    if token.starts(with: mark), token.dropFirst(3).allSatisfy({ isBase64URL($0) }) { count += 1 }
                    offset = UnsafeRawPointer(place) - first + 1
                }
                return count
            }
        }

        private func isBase64URL(_ byte: UInt8) -> Bool {
            switch UnicodeScalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
            default: false
            }
        }
    }
#endif
