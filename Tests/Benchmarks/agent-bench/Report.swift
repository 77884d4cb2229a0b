internal import CBenchSystem
internal import Foundation

/// The results of a run, as text or JSON.
struct Report {
    let frames: Frames
    let latencies: [LatencyResult]
    let loads: [LoadResult]
    let process: ProcessResult
    let commands: [CommandBench.Row]
    let flatness: [FlatnessBench.Row]
    let store: [StoreBench.Row]
    let fairness: [FairnessBench.Row]
    let events: [EventBench.Row]
    let redemptions: [RedemptionBench.Row]
    /// Empty if valgrind is not installed.
    let costs: [CostBench.Row]

    var table: String {
        """
        A silent hit: \(frames.request.count) bytes out, \(frames.replyLength) bytes back; × is the ratio to the floor \
        of the same rounds

        \(latencies.table)

        \(loads.table)

        process                       agent     floor       ×
        resident memory, kB      \(pad(process.agentKilobytes, 10, 0))\(pad(process.floorKilobytes, 10, 0))\
        \(pad(process.memoryRatio, 8, 1))
        spawn to listening, ms   \(pad(process.agentStart / 1e6, 10, 2))\(pad(process.floorStart / 1e6, 10, 2))\
        \(pad(process.startRatio, 8, 1))
        \(process.peers.map { "resident memory of \($0.name): \(pad($0.kilobytes, 0, 0)) kB" }.joined(separator: "\n"))

        \(commands.table)

        \(flatness.table)

        \(store.table)

        \(fairness.table)

        \(events.table)

        \(redemptions.table)

        \(costs.isEmpty ? "Instructions and allocations are counted if valgrind is installed." : costs.table)
        """
    }

    func json() throws -> String {
        let object: [String: Any] = [
            "machine": Self.machine, "request_bytes": frames.request.count, "reply_bytes": frames.replyLength,
            "latency": latencies.map {
                [
                    "level": $0.name, "processors": $0.placement.rawValue, "p50_us": $0.p50 / 1e3,
                    "p50_ratio": $0.p50Ratio, "p99_us": $0.p99 / 1e3,
                    "p99_ratio": $0.p99Ratio,
                ] as [String: Any]
            },
            "load": loads.map {
                [
                    "connections": Double($0.connections), "replies_per_second": $0.agentRepliesPerSecond,
                    "floor_replies_per_second": $0.floorRepliesPerSecond, "share": $0.share,
                    "p50_us": $0.agentP50 / 1e3, "p50_ratio": $0.p50Ratio, "p99_us": $0.agentP99 / 1e3,
                    "p99_ratio": $0.p99Ratio,
                ]
            },
            "process": [
                "resident_kb": process.agentKilobytes, "floor_resident_kb": process.floorKilobytes,
                "start_ms": process.agentStart / 1e6, "floor_start_ms": process.floorStart / 1e6,
                "start_ratio": process.startRatio,
                "peers": process.peers.map { ["name": $0.name, "resident_kb": $0.kilobytes] as [String: Any] },
            ],
            "commands": commands.json,
            "flatness": flatness.json,
            "store": store.json,
            "fairness": fairness.json,
            "events": events.json,
            "redemptions": redemptions.json,
            "costs": costs.json,
        ]
        let data = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
        return String(decoding: data, as: UTF8.self)
    }

    /// The machine, for readers of the figures.
    private static var machine: [String: Any] {
        let processors = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = processors.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last
        let kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
        return [
            "processor": model?.trimmingCharacters(in: .whitespaces) ?? "", "processors": Int(bench_processors()),
            "linux": kernel.split(separator: "-").first.map(String.init) ?? "",
        ]
    }
}

extension [LatencyResult] {
    /// A row for each level and peer, with a group of columns for each placement.
    var table: String {
        let placements = Placement.possible
        let names = filter { $0.placement == placements[0] }.map(\.name)
        let lines = names.map { name in
            name.padding(toLength: 24, withPad: " ", startingAt: 0)
                + placements.map { placement in
                    guard let result = first(where: { $0.name == name && $0.placement == placement }) else { return "" }
                    return pad(result.p50 / 1e3, 10, 1) + pad(result.p50Ratio, 8, 2) + pad(result.p99Ratio, 8, 2)
                }.joined()
        }
        let groups = placements.map { $0.rawValue.padding(toLength: 26, withPad: " ", startingAt: 0) }
        let columns = placements.map { _ in "    p50 µs       ×   p99 ×" }
        return """
            one at a time           \(groups.map { "    " + $0.dropLast(4) }.joined())
                                    \(columns.joined())
            \(lines.joined(separator: "\n"))
            """
    }
}

extension [LoadResult] {
    /// A row for each number of connections.
    var table: String {
        let lines = map { result in
            "\(result.connections) connections".padding(toLength: 14, withPad: " ", startingAt: 0)
                + pad(result.agentRepliesPerSecond, 10, 0) + pad(result.floorRepliesPerSecond, 10, 0)
                + pad(result.share, 8, 2) + pad(result.agentP50 / 1e3, 9, 1) + pad(result.p50Ratio, 8, 2)
                + pad(result.agentP99 / 1e3, 10, 1) + pad(result.p99Ratio, 8, 2)
        }
        return """
            under load     replies/s   floor's   share   p50 µs       ×    p99 µs       ×
            \(lines.joined(separator: "\n"))
            """
    }
}

private func pad(_ number: Double, _ width: Int, _ decimals: Int) -> String {
    let text = String(format: "%.\(decimals)f", number)
    return String(repeating: " ", count: max(width - text.count, 0)) + text
}
