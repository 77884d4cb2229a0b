internal import CProtobufC
internal import CTokenProtos
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The places of the two IDs in the frame of a silent request, which differ between requests that are otherwise equal. All other bytes
/// decide the answer.
///
/// Only frames of the form that `RequestFrame.encode` writes have a layout. Others may be valid, and have to be decoded.
package struct SilentRequestLayout: Sendable {
    /// The ID of the request.
    package let id: UInt64
    /// The offset of the request after its ID; the rest of the frame belongs to it.
    let start: Int
    /// The offset of the correlation ID: a UUID of 36 characters.
    let correlationID: Int

    /// Returns nil if the frame, without its length, has another form.
    package init?(_ frame: UnsafeRawBufferPointer) {
        var outer = WireCursor(frame, 0..<frame.count)
        guard let idTag = outer.tag(), idTag == (Fields.requestID, WireCursor.numeric), let id = outer.number()
        else { return nil }
        start = outer.offset
        guard let bodyTag = outer.tag(), bodyTag == (Fields.request, WireCursor.lengthDelimited),
            let body = outer.passContent(), outer.isAtEnd
        else { return nil }
        // The parameters come first, and once: protobuf-c would merge others into them.
        var request = WireCursor(frame, body)
        guard let tag = request.tag(), tag == (Fields.parameters, WireCursor.lengthDelimited),
            let parameters = request.passContent()
        else { return nil }
        while !request.isAtEnd {
            guard let tag = request.tag(), tag.field != Fields.parameters, request.pass(tag.type) != nil else {
                return nil
            }
        }
        guard let correlationID = Self.correlationID(frame, parameters) else { return nil }
        self.id = id
        self.correlationID = correlationID
    }

    /// The layout of a frame that is equal to an earlier one but for its IDs; nil if it is not. Takes a fraction of the time of reading
    /// the frame.
    ///
    /// - Parameters:
    ///   - earlier: the layout of the earlier frame.
    ///   - masked: the earlier frame without its IDs.
    package init?(_ frame: UnsafeRawBufferPointer, repeating earlier: SilentRequestLayout, _ masked: [UInt8]) {
        var outer = WireCursor(frame, 0..<frame.count)
        guard let idTag = outer.tag(), idTag == (Fields.requestID, WireCursor.numeric), let id = outer.number()
        else { return nil }
        self.id = id
        start = outer.offset
        correlationID = start + earlier.correlationID - earlier.start
        guard isEqual(frame, to: masked),
            CorrelationText.isValid(frame, correlationID..<correlationID + CorrelationText.length)
        else { return nil }
    }

    /// The offset of the one correlation ID among the parameters; nil if there is none, several, or one that is no UUID.
    private static func correlationID(_ frame: UnsafeRawBufferPointer, _ parameters: Range<Int>) -> Int? {
        var cursor = WireCursor(frame, parameters)
        var offset: Int?
        while !cursor.isAtEnd {
            guard let tag = cursor.tag() else { return nil }
            if tag.field == Fields.correlationID {
                guard offset == nil, tag.type == WireCursor.lengthDelimited, let text = cursor.passContent(),
                    CorrelationText.isValid(frame, text)
                else { return nil }
                offset = text.lowerBound
            } else {
                guard cursor.pass(tag.type) != nil else { return nil }
            }
        }
        return offset
    }

    /// A hash of the frame without its IDs, with this process's seed.
    package func hash(of frame: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: frame[start..<correlationID]))
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: frame[(correlationID + CorrelationText.length)...]))
        return hasher.finalize()
    }

    /// The frame without its IDs.
    package func masked(_ frame: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes = [UInt8](frame[start...])
        for index in 0..<CorrelationText.length { bytes[correlationID - start + index] = 0 }
        return bytes
    }

    /// Whether the frame without its IDs is equal to `masked`.
    package func isEqual(_ frame: UnsafeRawBufferPointer, to masked: [UInt8]) -> Bool {
        let (before, after) = (correlationID - start, correlationID - start + CorrelationText.length)
        guard masked.count == frame.count - start else { return false }
        return masked.withUnsafeBytes { masked in
            Self.isEqual(frame[start..<correlationID], masked[..<before])
                && Self.isEqual(frame[(start + after)...], masked[after...])
        }
    }

    /// Writes the correlation ID in lower case, as replies have it.
    func copyCorrelationID(of frame: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) {
        let text = frame[correlationID..<correlationID + CorrelationText.length]
        CorrelationText.copyLowercase(UnsafeRawBufferPointer(rebasing: text), to: target)
    }

    private static func isEqual(_ left: Slice<UnsafeRawBufferPointer>, _ right: Slice<UnsafeRawBufferPointer>) -> Bool {
        let (left, right) = (UnsafeRawBufferPointer(rebasing: left), UnsafeRawBufferPointer(rebasing: right))
        guard left.count == right.count, let a = left.baseAddress, let b = right.baseAddress else {
            return left.count == right.count
        }
        return memcmp(a, b, left.count) == 0
    }

    /// Writes what a frame begins with: its length, and the ID of the request.
    ///
    /// - Parameters:
    ///   - length: that of the frame, with its length.
    ///   - target: has at least `headLimit` bytes, or room for the frame.
    /// - Returns: the number of bytes.
    @discardableResult
    static func writeHead(id: UInt64, length: Int, to target: UnsafeMutableRawBufferPointer) -> Int {
        let header = FrameDecoder.headerLength
        target.storeBytes(of: UInt32(length - header).bigEndian, as: UInt32.self)
        target[header] = UInt8(truncatingIfNeeded: Fields.requestID << 3 | WireCursor.numeric)
        var (offset, rest) = (header + 1, id)
        while rest >= 0x80 {
            target[offset] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
            offset += 1
        }
        target[offset] = UInt8(rest)
        return offset + 1
    }

    /// The length of a frame, a tag and the longest ID, rounded up.
    static let headLimit = 16

    /// The numbers of fields in agent.proto.
    enum Fields {
        static let requestID = number("request_id", in: WireType(sso__request__init))
        static let request = UInt64(AcquireTokenSilent.number)
        static let parameters = number("parameters", in: AcquireTokenSilent.type)
        static let correlationID = number("correlation_id", in: TokenParameters.type)
        static let resultCorrelationID = number("correlation_id", in: TokenResult.type)

        private static func number(_ name: String, in type: WireType) -> UInt64 {
            UInt64(protobuf_c_message_descriptor_get_field_by_name(type.descriptor, name)?.pointee.id ?? 0)
        }
    }
}

/// The text of a correlation ID: a UUID of 36 characters, in upper or lower case (RFC 9562 section 4).
enum CorrelationText {
    static let length = 36

    static func isValid(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard range.count == length, range.lowerBound >= 0, range.upperBound <= bytes.count else { return false }
        let text = UnsafeRawBufferPointer(rebasing: bytes[range])
        return hasDigits(text, 0, 8) && hasHyphen(text, 8) && hasDigits(text, 9, 13) && hasHyphen(text, 13)
            && hasDigits(text, 14, 18) && hasHyphen(text, 18) && hasDigits(text, 19, 23) && hasHyphen(text, 23)
            && hasDigits(text, 24, length)
    }

    /// Copies a UUID of `length` bytes, in lower case, to as many bytes.
    static func copyLowercase(_ text: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) {
        // The bit that distinguishes the cases is set in digits and hyphens anyway.
        for offset in stride(from: 0, to: length - 4, by: 8) {
            let characters = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            target.storeBytes(of: characters | 0x2020_2020_2020_2020, toByteOffset: offset, as: UInt64.self)
        }
        let last = text.loadUnaligned(fromByteOffset: length - 4, as: UInt32.self)
        target.storeBytes(of: last | 0x2020_2020, toByteOffset: length - 4, as: UInt32.self)
    }

    private static func hasHyphen(_ text: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        text[offset] == UInt8(ascii: "-")
    }

    /// Whether there are hexadecimal digits only.
    private static func hasDigits(_ text: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> Bool {
        var areDigits = true
        for offset in start..<end {
            let character = text[offset]
            let isDecimal = character &- UInt8(ascii: "0") < 10
            let isLetter = (character | 0x20) &- UInt8(ascii: "a") < 6
            if !(isDecimal || isLetter) { areDigits = false }
        }
        return areDigits
    }
}

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
