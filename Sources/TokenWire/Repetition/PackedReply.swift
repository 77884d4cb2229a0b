internal import TokenModel

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Darwin)
    package import Darwin
#endif

/// The frame of a token result, packed once, for requests that differ in their IDs only.
///
/// The bytes are in secret memory, which is wiped with the last reference.
package struct PackedReply: Sendable {
    /// The frame after the ID of the request.
    private let content: Secret
    /// The offset of the correlation ID in `content`.
    private let correlationID: Int

    /// Returns nil if the frame is not the one of a token result with a correlation ID.
    ///
    /// - Parameter frame: a frame with its length, as `ReplyFrame.encode` returns it.
    package init?(_ frame: [UInt8]) {
        let place = frame.withUnsafeBytes { bytes -> (start: Int, correlationID: Int)? in
            var outer = WireCursor(bytes, min(FrameDecoder.headerLength, bytes.count)..<bytes.count)
            guard let idTag = outer.tag(), idTag == (SilentRequestLayout.Fields.requestID, WireCursor.numeric),
                outer.number() != nil
            else { return nil }
            let start = outer.offset
            guard let bodyTag = outer.tag(),
                bodyTag == (SilentRequestLayout.Fields.request, WireCursor.lengthDelimited),
                let body = outer.passContent(), outer.isAtEnd
            else { return nil }
            return Self.correlationID(bytes, body).map { (start, $0) }
        }
        guard let place else { return nil }
        content = Secret(bytes: frame[place.start...])
        correlationID = place.correlationID - place.start
    }

    private static func correlationID(_ bytes: UnsafeRawBufferPointer, _ result: Range<Int>) -> Int? {
        var cursor = WireCursor(bytes, result)
        while !cursor.isAtEnd {
            guard let tag = cursor.tag() else { return nil }
            if tag == (SilentRequestLayout.Fields.resultCorrelationID, WireCursor.lengthDelimited) {
                return cursor.passContent().flatMap { CorrelationText.isValid(bytes, $0) ? $0.lowerBound : nil }
            }
            guard cursor.pass(tag.type) != nil else { return nil }
        }
        return nil
    }

    /// The number of bytes that are kept.
    package var count: Int { content.count }

    /// The length of the frame that replies to a request.
    package func length(replyingTo request: SilentRequestLayout) -> Int {
        FrameDecoder.headerLength + 1 + WireCursor.length(of: request.id) + content.count
    }

    /// Writes the frame that replies to a request: with its length, the ID of the request, and its correlation ID.
    ///
    /// - Parameters:
    ///   - frame: the request's frame, without its length.
    ///   - target: has at least `length(replyingTo:)` bytes.
    package func write(
        replyingTo request: SilentRequestLayout, _ frame: UnsafeRawBufferPointer,
        to target: UnsafeMutableRawBufferPointer
    ) {
        let length = length(replyingTo: request)
        guard target.count >= length else { return }
        let start = SilentRequestLayout.writeHead(id: request.id, length: length, to: target)
        let rest = UnsafeMutableRawBufferPointer(rebasing: target[start..<length])
        content.withBytes { rest.copyMemory(from: $0) }
        let place = correlationID..<correlationID + CorrelationText.length
        request.copyCorrelationID(of: frame, to: UnsafeMutableRawBufferPointer(rebasing: rest[place]))
    }

    /// Calls `body` with the parts of the frame that replies to a request, in order. The secret bytes are not copied.
    ///
    /// - Parameter frame: the request's frame, without its length.
    package func withParts<Result>(
        replyingTo request: SilentRequestLayout, _ frame: UnsafeRawBufferPointer,
        _ body: (UnsafeMutableBufferPointer<iovec>) -> Result
    ) -> Result {
        // Tuples, because the generic functions for temporary memory look up a type at each call.
        var own: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
        return withUnsafeMutableBytes(of: &own) { own in
            let headLength = SilentRequestLayout.writeHead(
                id: request.id, length: length(replyingTo: request), to: own)
            let place = SilentRequestLayout.headLimit..<SilentRequestLayout.headLimit + CorrelationText.length
            let identifier = UnsafeMutableRawBufferPointer(rebasing: own[place])
            request.copyCorrelationID(of: frame, to: identifier)
            return content.withBytes { content in
                let base = UnsafeMutableRawPointer(mutating: content.baseAddress)
                let end = correlationID + CorrelationText.length
                var parts = (
                    iovec(iov_base: own.baseAddress, iov_len: headLength),
                    iovec(iov_base: base, iov_len: correlationID),
                    iovec(iov_base: identifier.baseAddress, iov_len: CorrelationText.length),
                    iovec(iov_base: base.map { $0 + end }, iov_len: content.count - end)
                )
                return withUnsafeMutableBytes(of: &parts) { body($0.bindMemory(to: iovec.self)) }
            }
        }
    }
}
