internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// Programs with large thread-local variables, such as those of a numerical library. glibc takes their memory from the stack of each thread.
@Suite(.bounded) struct ThreadLocalTests {
    #if os(Linux)
        /// The first size leaves hardly any stack of 512 KiB, the second one none.
        @Test(
            .enabled(if: Executable.isInstalled("cc"), "there is no C compiler"),
            .disabled(if: Sanitizer.isOn, "a sanitizer is to be loaded first"), arguments: [500, 1024])
        func callsTheAgentWithRoomOnTheStackBesides(kibibytes: Int) async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                let (source, library) = (f.folder.file("large.c"), f.folder.file("large.so"))
                try """
                static __thread volatile char variable[\(kibibytes) << 10];
                __attribute__((constructor)) static void use(void) { variable[0] = 1; }

                """.write(toFile: source, atomically: false, encoding: .utf8)
                let built = try await f.run("/usr/bin/env", ["cc", "-shared", "-fPIC", "-o", library, source])
                try #require(built.status == 0, "\(built.errors)")
                let ended = try await f.run(
                    "/usr/bin/env", ["LD_PRELOAD=\(library)", Executable.path("ssoctl"), "accounts", "--json"])
                #expect(ended.status == 0, "\(ended)")
                withExtendedLifetime(agent) {}
            }
        }
    #endif
}
