internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A TPM 2.0: a device of the kernel, or a socket of a program that emulates one. It answers each command before it takes the next.
struct TPMDevice: ~Copyable {
    private let descriptor: FileDescriptor
    /// The path of the device, for errors.
    let name: String

    init(_ descriptor: consuming FileDescriptor, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Sends a command and waits for the answer.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the TPM does not answer.
    func answer(to command: [UInt8]) throws(TokenError) -> TPMAnswer {
        for _ in 0..<Self.maximumAttempts {
            do throws(SystemError) {
                try send(command)
                guard let answer = TPMAnswer(try receive()) else { break }
                if !answer.isToRepeat { return answer }
            } catch {
                throw TokenError(.storeUnavailable, "the TPM \(name) does not answer: \(error)")
            }
        }
        throw TokenError(.storeUnavailable, "the TPM \(name) does not answer as a TPM 2.0 does")
    }

    /// Writes a whole command in one call: a device takes no parts of one.
    private func send(_ command: [UInt8]) throws(SystemError) {
        var count = 0
        repeat {
            count = command.withUnsafeBytes { bytes in
                // A socket whose program has ended must not end this one.
                let count = Self.send(descriptor.number, bytes.baseAddress, bytes.count, Self.noSignal)
                return count < 0 && errno == ENOTSOCK ? write(descriptor.number, bytes.baseAddress, bytes.count) : count
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw .last }
        guard count == command.count else { throw SystemError(number: EIO) }
    }

    #if canImport(Glibc)
        private static let send = Glibc.send
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #elseif canImport(Darwin)
        // The sockets of `UnixSocket` send no signal there.
        private static let send = Darwin.send
        private static let noSignal: Int32 = 0
    #endif

    /// A device has the answer in one call, a socket perhaps in several.
    private func receive() throws(SystemError) -> [UInt8] {
        var received: [UInt8] = []
        repeat {
            var waiting = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, Self.longestWait)
            guard ready != 0 else { throw SystemError(number: ETIMEDOUT) }
            guard ready > 0 || errno == EINTR else { throw .last }
            guard ready > 0 else { continue }
            var part = [UInt8](repeating: 0, count: TPMAnswer.longest)
            var result: Result<Int, SystemError> = .success(0)
            part.withUnsafeMutableBytes { part in
                result = Result { () throws(SystemError) in try descriptor.readBytes(into: part) }
            }
            let count = try result.get()
            guard count > 0 else { throw SystemError(number: EPIPE) }
            received += part.prefix(count)
        } while received.count < (TPMAnswer.length(of: received) ?? TPMAnswer.headerLength)
        return received
    }

    /// The time that a command may take, in milliseconds: TPMs take up to two seconds for memory that wears out.
    private static let longestWait: Int32 = 10_000
    private static let maximumAttempts = 5
}
