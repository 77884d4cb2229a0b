/// How long to wait for what.
struct HTTPTiming: Sendable {
    /// For a connection, TLS included.
    var connect = Duration.seconds(10)
    /// For an answer, its body and a repetition included.
    var whole = Duration.seconds(30)
    /// Before a failed request is sent once more.
    var beforeRepeating = Duration.milliseconds(500)
    /// How long a connection is kept for the next request. Short: the agent is idle most of its life.
    var idle = Duration.seconds(10)
}
