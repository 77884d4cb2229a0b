internal import Foundation
internal import PosixFiles
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// What a TPM answers is read with limits: a device can be broken, and a socket can be anybody's.
@Suite(.bounded) struct TPMAnswerTests {
    @Test func readsAnyBytesAsAnAnswerOrNone() throws {
        var seed = TestSeed()
        var answers = 0
        for _ in 0..<20_000 {
            var bytes = (0..<Int(seed.next() % 64)).map { _ in UInt8(truncatingIfNeeded: seed.next()) }
            // Most begin as an answer does.
            if bytes.count >= 10, seed.next() % 8 != 0 {
                bytes.replaceSubrange(
                    0..<10, with: [0x80, seed.next() % 2 == 0 ? 1 : 2, 0, 0, 0, UInt8(bytes.count), 0, 0, 0, 0])
            }
            guard let answer = TPMAnswer(bytes) else { continue }
            answers += 1
            #expect(bytes.count >= TPMAnswer.headerLength, "\(seed)")
            if answer.count != nil { #expect(bytes.count >= 24 && bytes[1] == 2, "\(seed)") }
            if answer.isOfCounter { #expect(bytes.count >= 22, "\(seed)") }
        }
        #expect(answers > 1000)
    }

    /// None of them is taken for a counter, for its absence, or waited for.
    @Test(
        arguments: [
            [], [0x80], Array(repeating: 0, count: 10), [0x80, 0x01, 0, 0, 0, 9, 0, 0, 0, 0],
            [0x80, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [0x80, 0x01, 0, 0, 0, 11, 0, 0, 0, 0],
            [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0, 0, 7],
        ] as [[UInt8]])
    func refusesWhatIsNoAnswer(bytes: [UInt8]) throws {
        let error = #expect(throws: TokenError.self) { try Self.counter(answering: bytes).read([]) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains("/dev/tpm-of-a-test") == true)
    }

    /// A TPM that is busy is asked again, and not for ever.
    @Test func endsWhenATPMIsAlwaysBusy() {
        let busy: [UInt8] = [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0x09, 0x22]
        let error = #expect(throws: TokenError.self) {
            try Self.counter(answering: Array(repeating: busy, count: 20).flatMap(\.self)).read([])
        }
        #expect(error?.code == .storeUnavailable)
    }

    @Test func saysWhatATPMRefuses() {
        let lockedOut: [UInt8] = [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0x09, 0x21]
        let error = #expect(throws: TokenError.self) { try Self.counter(answering: lockedOut).increment([]) }
        #expect(error?.message.contains("raising the counter, with code 0x921") == true)
    }

    /// As a company may have set it. The user cannot find that out from a code.
    @Test func saysThatTheOwnerOfTheTPMHasAPassword() {
        let answers: [[UInt8]] = [
            // There is no counter that could be removed, and none is made.
            [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0x02, 0x8B], [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0x09, 0xA2],
        ]
        let error = #expect(throws: TokenError.self) {
            try Self.counter(answering: answers.flatMap(\.self)).make([1])
        }
        #expect(error?.message.contains("owner has a password") == true)
    }

    /// A counter of a device that has these answers ready, and ends.
    private static func counter(answering bytes: [UInt8]) throws -> RollbackCounter {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
        // As a device does, each read has one answer.
        if bytes.count % 10 == 0, !bytes.isEmpty {
            for start in stride(from: 0, to: bytes.count, by: 10) {
                _ = write(ends[1], Array(bytes[start..<(start + 10)]), 10)
            }
        } else if !bytes.isEmpty {
            _ = write(ends[1], bytes, bytes.count)
        }
        shutdown(ends[1], Int32(SHUT_WR))
        // The other end stays open, so that commands can be sent.
        return RollbackCounter(try FileDescriptor(opened: ends[0]), name: "/dev/tpm-of-a-test", directory: "/tmp")
    }
}
