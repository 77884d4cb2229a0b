/// How much is logged.
@nonexhaustive(warn) public enum MSALLogLevel: Int, Sendable {
    /// Nothing.
    case nothing = 0
    /// Failures.
    case error = 1
    /// Also what is suspicious.
    case warning = 2
    /// Also each request and its outcome.
    case info = 3
    /// Also the details.
    case verbose = 4

    /// The most talkative level, `verbose`.
    public static var last: MSALLogLevel { .verbose }
}
