/// How long the agent waits for other programs that speak HTTP.
package struct HTTPTiming: Sendable {
    /// For a connection, TLS included.
    package var connect: Duration
    /// For a response, its body and a repetition of the request included.
    package var whole: Duration
    /// Before a failed request is sent once more.
    package var beforeRepeating: Duration
    /// For the next request on a connection that is kept open. Short: the agent is idle most of its life.
    package var idle: Duration
    /// For the request of a browser that has connected to the redirect URI. A browser sends it at once; another peer may only
    /// want to hold a file descriptor.
    package var browser: Duration

    package init(
        connect: Duration = .seconds(10), whole: Duration = .seconds(30),
        beforeRepeating: Duration = .milliseconds(500),
        idle: Duration = .seconds(10), browser: Duration = .seconds(10)
    ) {
        self.connect = connect
        self.whole = whole
        self.beforeRepeating = beforeRepeating
        self.idle = idle
        self.browser = browser
    }
}
