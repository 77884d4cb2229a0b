/// The two generations of the endpoints: v1 takes a `resource`, v2 takes a `scope`.
enum ProtocolVersion: Sendable {
    case v1
    case v2
}
