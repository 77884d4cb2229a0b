/// How a `TokenError` leaves this module.
enum MSALErrorMapping: Equatable {
    /// With an MSAL code of its own: one of -50001 to -50005 and -50142.
    case own(MSALError)
    /// As -50000, with this number under `MSALInternalErrorCodeKey`.
    case wrapped(Int)
    /// In `NSURLErrorDomain`, with the network's own code.
    case network

    /// As -50000, with an internal code.
    static func wrapped(_ code: MSALInternalError) -> Self { .wrapped(code.rawValue) }
}
