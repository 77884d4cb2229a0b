#if !canImport(ObjectiveC)
    public import Foundation

    // On Apple's systems every error of Swift can be cast to `NSError`, and an `NSError` to the Swift error of its domain. Elsewhere Swift
    // casts neither, although `catch let error as NSError` compiles there as the only `catch`, and crashes when an error is no `NSError`
    // (https://github.com/swiftlang/swift/issues/65106). So all errors of MSAL and ADAL are `NSError`s. These conformances, of the kind by
    // which Foundation bridges `NSNumber`, let apps cast them as on Apple's systems.

    /// Lets the `NSError` of a call whose task was cancelled be cast to `CancellationError`.
    extension CancellationError: @retroactive _ObjectiveCBridgeable {
        /// The domain of the `NSError` that Swift makes of this type.
        private static var domain: String { "Swift.CancellationError" }

        /// Returns the `NSError` that Swift makes of the error on Apple's systems.
        public func _bridgeToObjectiveC() -> NSError { NSError(domain: Self.domain, code: 1) }

        /// Casts an `NSError`, for `as!`.
        public static func _forceBridgeFromObjectiveC(_ error: NSError, result: inout CancellationError?) {
            _ = _conditionallyBridgeFromObjectiveC(error, result: &result)
        }

        /// Casts an `NSError`; returns false for one of another domain.
        public static func _conditionallyBridgeFromObjectiveC(
            _ error: NSError, result: inout CancellationError?
        ) -> Bool {
            result = error.domain == domain ? CancellationError() : nil
            return result != nil
        }

        /// Returns the error for any `NSError`; not used by Swift here.
        public static func _unconditionallyBridgeFromObjectiveC(_ error: NSError?) -> CancellationError {
            CancellationError()
        }
    }

    /// Lets the `NSError` of a network failure be cast to `URLError`.
    extension URLError: @retroactive _ObjectiveCBridgeable {
        /// Returns the `NSError` that the value is made of.
        public func _bridgeToObjectiveC() -> NSError { _nsError }

        /// Casts an `NSError`, for `as!`.
        public static func _forceBridgeFromObjectiveC(_ error: NSError, result: inout URLError?) {
            _ = _conditionallyBridgeFromObjectiveC(error, result: &result)
        }

        /// Casts an `NSError`; returns false for one of another domain, and for a code that Foundation does not know, with which
        /// `URLError.code` would trap.
        public static func _conditionallyBridgeFromObjectiveC(_ error: NSError, result: inout URLError?) -> Bool {
            let isKnown = error.domain == NSURLErrorDomain && URLError.Code(rawValue: error.code) != nil
            result = isKnown ? URLError(_nsError: error) : nil
            return isKnown
        }

        /// Returns the value of an `NSError` of `NSURLErrorDomain`; not used by Swift here.
        public static func _unconditionallyBridgeFromObjectiveC(_ error: NSError?) -> URLError {
            error.map { URLError(_nsError: $0) } ?? URLError(.unknown)
        }
    }
#endif
