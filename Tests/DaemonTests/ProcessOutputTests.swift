internal import TestSupport
internal import Testing

/// What a test reads of a child process: on a busy machine one read returns several lines, of which the test waits for each.
@Suite(.bounded) struct ProcessOutputTests {
    private func shell(_ script: String) throws -> TestProcess { try TestProcess("/bin/sh", ["-c", script]) }

    @Test func givesTheLinesBehindTheOneOfAWaitToTheNext() async throws {
        let process = try shell("printf 'one\\ntwo\\nthree\\nfour\\n'")
        #expect(try await process.waitForOutput("one") == "one\n")
        #expect(try await process.waitForOutput("three") == "two\nthree\n")
        let ended = try await process.finish()
        #expect(ended.status == 0 && ended.output == "four\n" && ended.errors.isEmpty, "\(ended)")
    }

    /// A line that was not waited for on one stream is not lost by a wait on the other.
    @Test func keepsTheLinesOfEachStream() async throws {
        let process = try shell("printf 'one\\ntwo\\n'; printf 'three\\nfour\\n' >&2")
        #expect(try await process.waitForOutput("one") == "one\n")
        #expect(try await process.waitForError("three") == "three\n")
        #expect(try await process.waitForOutput("two") == "two\n")
        let ended = try await process.finish()
        #expect(ended.status == 0 && ended.output.isEmpty && ended.errors == "four\n", "\(ended)")
    }

    /// Each `printf` writes by itself, so that a read may end inside the character.
    @Test func waitsForCharactersWhoseBytesComeApart() async throws {
        let process = try shell("printf '\\342'; printf '\\206\\222\\n'")
        #expect(try await process.waitForOutput("→") == "→\n")
        #expect(try await process.finish().status == 0)
    }

    /// The message of a failed wait names every line that no wait before it returned.
    @Test func saysWhatWasPrintedIfTheProcessEndsBeforeTheLine() async throws {
        let process = try shell("printf 'one\\ntwo\\n'")
        #expect(try await process.waitForOutput("one") == "one\n")
        let ended = await #expect(throws: TestProcess.Ended.self) { try await process.waitForOutput("three") }
        #expect(ended?.printed == "two\n")
    }
}
