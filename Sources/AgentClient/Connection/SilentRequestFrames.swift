internal import Synchronization
internal import TokenModel
internal import TokenWire

/// The frames of silent requests. Most requests of an app repeat the one before them, so that their frames differ in the IDs only: such
/// a frame is made from the last one's, instead of being encoded.
///
/// Safe to use from any thread.
final class SilentRequestFrames: Sendable {
    /// A request, and the frame that it had.
    private final class Encoded: Sendable {
        let request: AcquireTokenSilent
        let template: SilentRequestTemplate

        init(_ request: AcquireTokenSilent, _ template: SilentRequestTemplate) {
            self.request = request
            self.template = template
        }
    }

    private let last = Mutex<Encoded?>(nil)

    /// Encodes the frame of a request, with its length.
    ///
    /// - Throws: `frameTooLarge` (-53002) if the request cannot be encoded.
    func frame(of request: AcquireTokenSilent, id: UInt64) throws(TokenError) -> [UInt8] {
        if let last = last.withLock(\.self), last.request.hasSameFrame(as: request) {
            return last.template.frame(id: id, request.parameters.correlationID)
        }
        let frame = try RequestFrame.encode(request, id: id)
        if let template = SilentRequestTemplate(frame) {
            let encoded = Encoded(request, template)
            last.withLock { $0 = encoded }
        }
        return frame
    }
}

extension AcquireTokenSilent {
    /// Whether the frames of two requests differ in the IDs only.
    fileprivate func hasSameFrame(as other: AcquireTokenSilent) -> Bool {
        isRepeated(by: other) && wantsFreshness == other.wantsFreshness
            && acceptsSingleIDToken == other.acceptsSingleIDToken
    }
}
