internal import TestSupport
internal import Testing

@testable internal import TokenStore

/// A call of a program returns, whatever the program does.
@Suite(.bounded) struct PipedProcessTests {
    @Test func returnsTheOutputAndTheStatusOfAProgram() throws {
        let ended = try #require(PipedProcess.run(["sh", "-c", "cat; exit 3"], input: Array("key".utf8), seconds: 30))
        #expect(ended.output == Array("key".utf8))
        #expect(ended.status == 3)
        #expect(PipedProcess.run(["no-such-program"], input: [], seconds: 30) == nil)
    }

    private static let killed: Int32 = 128 + 9

    @Test func killsAProgramWithTooLongAnOutput() throws {
        let ended = try #require(PipedProcess.run(["head", "-c", "1000000", "/dev/zero"], input: [], seconds: 30))
        #expect(ended.status == Self.killed)
        #expect(ended.output.isEmpty)
    }

    @Test(arguments: [
        // Writes nothing, and does not end.
        "exec sleep 1000",
        // Closes its output, and does not end.
        "exec <&- >&-; exec sleep 1000",
        // Writes a little, again and again.
        "while :; do echo key; sleep 0.2; done",
    ])
    func killsAProgramThatDoesNotEnd(script: String) throws {
        let ended = try #require(PipedProcess.run(["sh", "-c", script], input: [], seconds: 1))
        #expect(ended.status == Self.killed)
    }
}
