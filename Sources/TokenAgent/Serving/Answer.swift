internal import NIOCore
internal import TokenModel

/// The reply to a request: available now, or as a future.
enum Answer<Value: Sendable>: Sendable {
    case now(Result<Value, TokenError>)
    /// A success that is also the answer to repetitions of the request, under these conditions.
    case repeatable(Value, KeptReplies.Conditions)
    case later(EventLoopFuture<Result<Value, TokenError>>)

    /// Waits for the outcome.
    func outcome() async throws(TokenError) -> Value {
        switch self {
        case .now(let outcome): try outcome.get()
        case .repeatable(let value, _): value
        case .later(let future): try await future.outcome()
        }
    }

    func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> Answer<Other> {
        mapOutcome { $0.map(transform) }
    }

    func mapOutcome<Other: Sendable>(
        _ transform: @escaping @Sendable (Result<Value, TokenError>) -> Result<Other, TokenError>
    ) -> Answer<Other> {
        switch self {
        case .now(let outcome): .now(transform(outcome))
        case .later(let future): .later(future.map(transform))
        case .repeatable(let value, _): .now(transform(.success(value)))
        }
    }

    /// The frame of the reply, of a success or a failure.
    ///
    /// - Parameters:
    ///   - encode: encodes an outcome that is available now.
    ///   - encodeLater: called as soon as a later outcome is available; what it returns encodes the outcome when the reply can be sent.
    func encoded(
        now encode: (Result<Value, TokenError>) -> [UInt8],
        later encodeLater: @escaping @Sendable (Result<Value, TokenError>) -> @Sendable () -> [UInt8]
    ) -> EncodedReply {
        switch self {
        case .now(let outcome): .now(encode(outcome))
        case .repeatable(let value, _): .now(encode(.success(value)))
        case .later(let future): .later(future.map { outcome in encodeLater(outcome) })
        }
    }
}

/// The frame of a reply: available now, or later. A later one is encoded when it can be sent, since it may be much larger than the
/// outcome, which other replies may share.
enum EncodedReply {
    case now([UInt8])
    /// Available now, and for repetitions of the request.
    case repeatable([UInt8], KeptReplies.Entry)
    /// Available now, and comes with a descriptor.
    case withDescriptor([UInt8], Int32)
    case later(EventLoopFuture<@Sendable () -> [UInt8]>)
    /// A person has to allow the request first.
    case afterConfirmation(EventLoopFuture<Result<Void, TokenError>>)
    /// The store has to be loaded first.
    case afterLoad(EventLoopFuture<Result<Void, TokenError>>)
}

extension Answer<TokenResult> {
    /// The answer, whose ID token is encoded once if the app restores its other places (`acceptsSingleIDToken`).
    func withSingleIDToken(for request: AcquireTokenSilent) -> Answer<TokenResult> {
        guard request.acceptsSingleIDToken else { return self }
        return map { result in
            var result = result
            result.allowsSingleIDToken = true
            return result
        }
    }
}
