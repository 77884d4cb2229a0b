/// What a scripted server does about a request.
enum ScriptedReply: Sendable {
    /// Answers.
    case answer(status: Int, headers: [(String, String)] = [], body: String)
    /// Answers with a body of so many bytes.
    case filler(bytes: Int)
    /// Begins an answer and never ends it.
    case drip
    /// Closes the connection without a word.
    case hangUp
    /// Keeps the connection and says nothing.
    case silence

    static func json(_ body: String, status: Int = 200, headers: [(String, String)] = []) -> ScriptedReply {
        .answer(status: status, headers: headers + [("Content-Type", "application/json")], body: body)
    }
}
