internal import CTokenProtos
package import TokenModel

extension AgentMetric: WireMessage {
    package static let type = WireType(sso__metric__init)

    package init(_ value: AgentMetric?, _ fields: inout WireFields) throws(TokenError) {
        let name = try fields.required("name", value?.name)
        let kind = try fields.choice("metric_kind", value?.kind.map(WireKind.init))?.kind
        let labels = try fields.pairs("labels", value?.labels)
        let number = fields.number("number", value?.value) ?? 0
        let sum = fields.number("sum", value?.durations?.sum)
        let bounds = try fields.numbers("bounds", value?.durations?.bounds)
        let counts = try fields.numbers("counts", value?.durations?.counts)
        guard bounds.count == counts.count else {
            throw TokenError(.malformedMessage, "counts has \(counts.count) items for \(bounds.count) bounds")
        }
        self.init(
            name, kind, labels: labels, value: number,
            durations: sum.map { Durations(sum: $0, bounds: bounds, counts: counts) })
    }

    private enum WireKind: Int32 {
        case counter = 1
        case gauge = 2
        case histogram = 3

        init(_ kind: Kind) {
            self =
                switch kind {
                case .counter: .counter
                case .gauge: .gauge
                case .histogram: .histogram
                }
        }

        var kind: Kind {
            switch self {
            case .counter: .counter
            case .gauge: .gauge
            case .histogram: .histogram
            }
        }
    }
}
