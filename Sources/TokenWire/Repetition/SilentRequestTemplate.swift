package import TokenModel

/// The frame of a silent request, from which those of its repetitions are made: they differ in their IDs only.
package struct SilentRequestTemplate: Sendable {
    /// The frame without its length.
    private let frame: [UInt8]
    private let layout: SilentRequestLayout

    /// Returns nil if the frame is not the one of a silent request.
    ///
    /// - Parameter frame: a frame with its length, as `RequestFrame.encode` returns it.
    package init?(_ frame: [UInt8]) {
        self.frame = Array(frame.dropFirst(FrameDecoder.headerLength))
        guard let layout = self.frame.withUnsafeBytes({ SilentRequestLayout($0) }) else { return nil }
        self.layout = layout
    }

    /// The frame of the same request with other IDs, with its length.
    package func frame(id: UInt64, _ correlationID: CorrelationID) -> [UInt8] {
        let (header, content) = (FrameDecoder.headerLength, frame.count - layout.start)
        let start = header + 1 + WireCursor.length(of: id)
        return [UInt8](unsafeUninitializedCapacity: start + content) { buffer, count in
            let target = UnsafeMutableRawBufferPointer(buffer)
            SilentRequestLayout.writeHead(id: id, length: start + content, to: target)
            frame.withUnsafeBytes { frame in
                UnsafeMutableRawBufferPointer(rebasing: target[start...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: frame[layout.start...]))
            }
            let place = start + layout.correlationID - layout.start
            let text = target[place..<place + CorrelationText.length]
            correlationID.write(to: UnsafeMutableRawBufferPointer(rebasing: text))
            count = start + content
        }
    }
}
