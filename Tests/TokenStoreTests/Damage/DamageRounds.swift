internal import Foundation
internal import PosixFiles
internal import TokenModel

@testable internal import TokenStore

/// The rounds of damage of one thread, in a directory in memory.
struct DamageRounds {
    typealias Records = DamageSample.Records

    private let sample: DamageSample
    private let folder: StoreFolder
    private let options = StoreOptions { 1_900_000_000 }

    init(_ sample: DamageSample) throws {
        self.sample = sample
        folder = try StoreFolder(inMemory: true)
        try folder.makeDirectory()
    }

    struct Outcome {
        var found: Records
        var report: StoreReport
        /// A failure for any kind of damage.
        var problems: [String] = []

        /// Whether the damage was reported.
        var isReported: Bool { !report.notices.isEmpty && !report.quarantined.isEmpty }
    }

    /// Opens a copy of the sample with one changed file.
    ///
    /// - Parameter continues: whether to write to the store and open it again.
    func open(_ name: String, as bytes: [UInt8], continues: Bool) throws -> Outcome {
        try fill(name, bytes)
        var outcome = try load(continues: continues)
        for record in outcome.found.values where !sample.isGenuine(record) {
            outcome.problems.append("\(record.key.key) is not as it was written")
        }
        if outcome.report.quarantined.isEmpty != outcome.report.notices.isEmpty {
            outcome.problems.append("reported \(outcome.report.notices), quarantined \(outcome.report.quarantined)")
        }
        outcome.problems += try changedFiles(outcome.report.quarantined, name, bytes)
        return outcome
    }

    private func load(continues: Bool) throws -> Outcome {
        var outcome = try {
            let engine = try StoreEngine(folder.path, options)
            let found = try engine.records()
            var outcome = Outcome(found: found, report: engine.report)
            guard continues else { return outcome }
            try engine.apply([.put(.sample(100))])
            if engine.report.notices != outcome.report.notices {
                outcome.problems.append("the damage was reported later")
            }
            return outcome
        }()
        if continues { outcome.problems += try reopen(outcome.found) }
        return outcome
    }

    /// - Returns: the records that differ from the expected ones.
    private func reopen(_ found: Records) throws -> [String] {
        let engine = try StoreEngine(folder.path, options)
        var expected = found
        expected[.sample(100)] = .sample(100)
        let left = try engine.records()
        var problems: [String] = []
        if left != expected { problems.append("after reopening, \(left.count) records instead of \(expected.count)") }
        if !engine.report.notices.isEmpty { problems.append("after reopening, \(engine.report.notices)") }
        return problems
    }

    /// - Returns: the quarantined files that differ from the damaged ones.
    private func changedFiles(_ quarantined: [String], _ name: String, _ bytes: [UInt8]) throws -> [String] {
        guard let database = quarantined.first(where: { $0.hasPrefix(DamageSample.database) }) else { return [] }
        let key = quarantined.first { $0.hasPrefix(DamageSample.key) } ?? DamageSample.key
        let kept = [
            (DamageSample.database, database), (DamageSample.log, database + "-wal"), (DamageSample.key, key),
        ]
        return try kept.compactMap { before, now in
            let expected = before == name ? bytes : sample.files[before]
            let found = try PrivateFiles.store.read(folder.path + "/" + now) ?? []
            return found == expected ? nil : "\(now) is not as \(before) was"
        }
    }

    private func fill(_ name: String, _ bytes: [UInt8]) throws {
        for name in folder.names { unlink(folder.path + "/" + name) }
        for (other, content) in sample.files {
            let path = folder.path + "/" + other
            guard let file = fopen(path, "w") else { throw POSIXError(.EIO) }
            let content = other == name ? bytes : content
            fwrite(content, 1, content.count, file)
            fclose(file)
        }
    }
}

extension StoreEngine {
    /// Loads the store.
    fileprivate func records() throws -> DamageRounds.Records {
        let records: [StoredRecord] = try load()
        return Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0) })
    }
}
