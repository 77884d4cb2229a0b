internal import NIOCore
internal import TokenModel

/// A reply that is there at once, or one that is still being worked on.
enum Answer<Value: Sendable>: Sendable {
    case now(Result<Value, TokenError>)
    case later(EventLoopFuture<Result<Value, TokenError>>)

    func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> Answer<Other> {
        switch self {
        case .now(let outcome): .now(outcome.map(transform))
        case .later(let future): .later(future.map { $0.map(transform) })
        }
    }

    /// The frame of the reply, whatever it says.
    func encoded(_ encode: @escaping @Sendable (Result<Value, TokenError>) -> [UInt8]) -> Answer<[UInt8]> {
        switch self {
        case .now(let outcome): .now(.success(encode(outcome)))
        case .later(let future): .later(future.map { .success(encode($0)) })
        }
    }

    func future(on loop: any EventLoop) -> EventLoopFuture<Result<Value, TokenError>> {
        switch self {
        case .now(let outcome): loop.makeSucceededFuture(outcome)
        case .later(let future): future
        }
    }
}
