internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import TokenStore

/// Flips bits of a small store and truncates its files: the store opens, serves the undamaged records, reports the lost
/// ones, and keeps the damaged files unchanged.
///
/// The bytes are chosen at random; `SSO_AGENT_BITS` selects all of them, and the number of bits of each.
///
/// The tests are serialised, since each uses every processor.
@Suite(.serialized, .boundedLong) struct DamageTests {
    @Test(arguments: DamageSample.names)
    func losesOneRecordAtMostToAFlippedBit(name: String) async throws {
        let seed = TestSeed()
        let sample = try await DamageSample()
        let bytes = try #require(sample.files[name])
        let problems = try await Self.eachByte(sample, bytes.count) { rounds, offset in
            var (problems, chance) = ([String](), TestSeed(seed.seed &+ UInt64(offset)))
            for bit in Self.bits(&chance, of: bytes.count) {
                var damaged = bytes
                damaged[offset] ^= 1 << bit
                let outcome = try rounds.open(name, as: damaged, continues: Self.continues(after: offset))
                for problem in Self.problems(outcome, sample, sample.loss(offset, of: name)) {
                    problems.append("bit \(bit) of byte \(offset): \(problem)")
                }
            }
            return problems
        }
        #expect(problems.prefix(20) == [], "\(name): \(problems.count) problems; \(seed)")
    }

    @Test func servesTheIntactRecordsOfATruncatedDatabase() async throws {
        let seed = TestSeed()
        let sample = try await DamageSample()
        let bytes = try #require(sample.files[DamageSample.database])
        let problems = try await Self.eachByte(sample, bytes.count) { rounds, length in
            var chance = TestSeed(seed.seed &+ UInt64(length))
            guard Self.bits != nil || chance.next() % 24 == 0 else { return [] }
            let outcome = try rounds.open(
                DamageSample.database, as: Array(bytes[..<length]), continues: Self.continues(after: length))
            var problems = outcome.problems
            if outcome.found != sample.whole(upTo: length) { problems.append("\(outcome.found.count) records") }
            if outcome.found != sample.latest, !outcome.isReported { problems.append("the damage is not reported") }
            return problems.map { "cut to \(length): \($0)" }
        }
        #expect(problems.prefix(20) == [], "\(problems.count) problems; \(seed)")
    }

    @Test func servesAnEarlierCommitOfATruncatedLog() async throws {
        let sample = try await DamageSample()
        let bytes = try #require(sample.files[DamageSample.log])
        let problems = try await Self.eachByte(sample, bytes.count) { rounds, length in
            // One length within each page is enough.
            guard
                length % (Self.bits == nil ? 64 : 16) == 0
                    || sample.commitEnds.contains(where: { abs($0 - length) < 40 })
            else { return [] }
            let outcome = try rounds.open(
                DamageSample.log, as: Array(bytes[..<length]), continues: Self.continues(after: length))
            var problems = outcome.problems
            let stage = sample.commitEnds.prefix { $0 <= length }.count
            if outcome.found != sample.stages[stage] { problems.append("\(outcome.found.count) records") }
            // A crash leaves such a log.
            if !outcome.report.notices.isEmpty { problems.append("reported \(outcome.report.notices)") }
            return problems.map { "cut to \(length): \($0)" }
        }
        #expect(problems.prefix(20) == [], "\(problems.count) problems")
    }

    /// The first block of the log has its header and that of the first frame, which has the database's first page, without records.
    @Test(arguments: [56, 4096]) func servesTheCommitsAfterALostBeginningOfTheLog(length: Int) async throws {
        let sample = try await DamageSample()
        let bytes = try #require(sample.files[DamageSample.log])
        let damaged = [UInt8](repeating: 0, count: length) + bytes[length...]
        let outcome = try DamageRounds(sample).open(DamageSample.log, as: damaged, continues: true)
        #expect(outcome.found == sample.latest && outcome.isReported)
        #expect(outcome.problems.isEmpty)
    }

    @Test func startsANewStoreWithoutAKeyAndKeepsTheOldOne() async throws {
        let sample = try await DamageSample()
        let bytes = try #require(sample.files[DamageSample.key])
        let line = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
        let problems = try await Self.eachByte(sample, bytes.count) { rounds, length in
            let outcome = try rounds.open(
                DamageSample.key, as: Array(bytes[..<length]), continues: Self.continues(after: length))
            var problems = outcome.problems
            // The key is in the file twice.
            let expected = length < line ? [:] : sample.latest
            if outcome.found != expected { problems.append("\(outcome.found.count) records") }
            if outcome.found != sample.latest, !outcome.isReported { problems.append("the damage is not reported") }
            return problems.map { "cut to \(length): \($0)" }
        }
        #expect(problems.prefix(20) == [], "\(problems.count) problems")
    }

    @Test func startsANewStoreWithAnotherKeyAndKeepsTheOldOne() async throws {
        let (sample, other) = (try await DamageSample(), try await DamageSample())
        let key = try #require(other.files[DamageSample.key])
        let outcome = try DamageRounds(sample).open(DamageSample.key, as: key, continues: true)
        #expect(outcome.found.isEmpty && outcome.isReported)
        #expect(outcome.problems.isEmpty)
    }

    /// How many bits of each byte to flip.
    private static let bits = ProcessInfo.processInfo.environment["SSO_AGENT_BITS"].flatMap { Int($0) }

    /// The bits to flip in a byte of a file of `length` bytes: one in some of its bytes, in more of them if the file is short.
    private static func bits(_ chance: inout TestSeed, of length: Int) -> [UInt8] {
        let shuffled = (0..<8 as Range<UInt8>).shuffled(using: &chance)
        guard let bits else { return chance.next() % (length < 4096 ? 4 : 64) == 0 ? [shuffled[0]] : [] }
        return Array(shuffled.prefix(bits))
    }

    /// Whether to write to the opened store and open it again, which takes twice as long: for some bytes of each page.
    private static func continues(after offset: Int) -> Bool { offset % 7 == 0 }

    private static func problems(
        _ outcome: DamageRounds.Outcome, _ sample: DamageSample, _ loss: RecordKey?
    ) -> [String] {
        var problems = outcome.problems
        let lost = sample.latest.filter { outcome.found[$0.key] != $0.value }
        for key in lost.keys where key != loss { problems.append("\(key.key) is lost") }
        // A removed record may come back only if the store reports that records are lost or out of date.
        if outcome.found != sample.latest, !outcome.isReported { problems.append("the damage is not reported") }
        return problems
    }

    /// The number of threads. A long run uses every processor, the usual one leaves one to other tests.
    private static let lanes = bits == nil ? 1 : 2

    /// Runs a round for each of the first `count` offsets.
    ///
    /// - Returns: descriptions of the failures.
    private static func eachByte(
        _ sample: DamageSample, _ count: Int, _ round: @escaping @Sendable (DamageRounds, Int) throws -> [String]
    ) async throws -> [String] {
        try await withThrowingTaskGroup { group in
            for lane in 0..<lanes {
                group.addTask {
                    try await offPool {
                        let rounds = try DamageRounds(sample)
                        return try stride(from: lane, to: count, by: lanes).flatMap { try round(rounds, $0) }
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
