internal import Foundation

/// Compares the cost of a hit with the one that the repository records, `Tests/Benchmarks/costs.json`.
///
/// A cost above it by more than the tolerance is a regression; one below it by more than the tolerance has to be recorded, so that
/// the next regression shows.
struct CostCheck {
    /// What is recorded for a subject.
    private struct Cost: Codable {
        var instructions: Int
        var allocations: Int
    }

    /// The file: costs by processor architecture and subject. Another architecture has other instructions.
    private typealias Record = [String: [String: Cost]]

    /// The share by which instructions may differ: the C library chooses its functions by the processor, and one call in a thousand
    /// may take another path.
    private static let instructionTolerance = 0.05
    /// The allocations of a hit that may differ, as a number and as a share: whether buffers are reused depends on the time.
    private static let allocationTolerance = (number: 1.5, share: 0.03)

    /// Returns a sentence for each cost that differs.
    static func defects(of rows: [CostBench.Row], recordedIn file: String) throws -> [String] {
        guard let recorded = try read(file)[architecture] else { return ["\(file) has no costs for \(architecture)"] }
        return rows.flatMap { row -> [String] in
            guard let cost = recorded[row.subject.rawValue] else {
                return ["\(file) has no costs of \(row.subject.rawValue)"]
            }
            return [
                defect(
                    row, "instructions", row.instructions, cost.instructions,
                    Double(cost.instructions) * instructionTolerance, row.subject.endOfTurn),
                defect(
                    row, "allocations", row.allocations, cost.allocations,
                    max(allocationTolerance.number, Double(cost.allocations) * allocationTolerance.share)),
            ].compactMap(\.self)
        }
    }

    /// Writes the costs of this architecture into the file.
    static func record(_ rows: [CostBench.Row], in file: String) throws {
        var record = try read(file)
        for row in rows {
            record[architecture, default: [:]][row.subject.rawValue] = Cost(
                instructions: Int(row.instructions.rounded()), allocations: Int(row.allocations.rounded()))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(record) + Data("\n".utf8)).write(to: URL(fileURLWithPath: file))
    }

    private static func defect(
        _ row: CostBench.Row, _ unit: String, _ measured: Double, _ recorded: Int, _ tolerance: Double,
        _ saved: Double = 0
    ) -> String? {
        let more = measured - Double(recorded)
        guard more > tolerance || -more > tolerance + saved else { return nil }
        let figures = String(format: "%.1f %@, recorded are %d", measured, unit, recorded)
        let advice = measured < Double(recorded) ? "fewer: record them with --record-costs" : "a regression"
        return "a hit of \(row.subject.rawValue) takes \(figures): \(advice)"
    }

    private static func read(_ file: String) throws -> Record {
        guard FileManager.default.fileExists(atPath: file) else { return [:] }
        return try JSONDecoder().decode(Record.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    }

    private static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "other"
        #endif
    }
}
