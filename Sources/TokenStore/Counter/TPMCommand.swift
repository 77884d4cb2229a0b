/// The commands of a TPM 2.0 with which a counter is made, raised, read and removed (TPM 2.0 Library, part 3: `TPM2_NV_…`).
///
/// The counter is an NV index of the owner's hierarchy, whose password is empty on most machines. It has a password of its own: nobody else
/// raises it. Who has the owner's password can remove it, and not set it back: a counter that is made anew begins above every count
/// that the TPM has had.
enum TPMCommand {
    /// Asks for the kind of an index.
    static func readPublic(_ index: UInt32) -> [UInt8] { command(0x169, handles: [index], passwords: []) }

    /// Makes a counter with a password; it has no value until it is raised.
    static func define(_ index: UInt32, password: [UInt8]) -> [UInt8] {
        var area: [UInt8] = []
        area.append(number: index)
        area.append(number: hashSHA256)
        area.append(number: counterAttributes)
        area.append(number: UInt16(0))  // no policy
        area.append(number: counterSize)
        var parameters: [UInt8] = []
        parameters.append(sized: password)
        parameters.append(sized: area)
        return command(0x12A, handles: [owner], passwords: [[]], parameters)
    }

    /// Raises a counter by one.
    static func increment(_ index: UInt32, password: [UInt8]) -> [UInt8] {
        command(0x134, handles: [index, index], passwords: [password])
    }

    /// Reads a counter.
    static func read(_ index: UInt32, password: [UInt8]) -> [UInt8] {
        var parameters: [UInt8] = []
        parameters.append(number: counterSize)
        parameters.append(number: UInt16(0))  // from its first byte
        return command(0x14E, handles: [index, index], passwords: [password], parameters)
    }

    /// Removes an index.
    static func undefine(_ index: UInt32) -> [UInt8] { command(0x122, handles: [owner, index], passwords: [[]]) }

    /// `TPM2_NT_COUNTER`; read and raised with the password only, which a wrong one does not lock.
    static let counterAttributes: UInt32 = 0x0204_0014
    /// The attribute that the TPM sets when a counter has a value.
    static let writtenAttribute: UInt32 = 0x2000_0000
    static let counterSize: UInt16 = 8
    static let withoutSessions: UInt16 = 0x8001
    static let withSessions: UInt16 = 0x8002
    private static let owner: UInt32 = 0x4000_0001
    private static let passwordSession: UInt32 = 0x4000_0009
    private static let hashSHA256: UInt16 = 0x000B

    private static func command(
        _ code: UInt32, handles: [UInt32], passwords: [[UInt8]], _ parameters: [UInt8] = []
    ) -> [UInt8] {
        var body: [UInt8] = []
        for handle in handles { body.append(number: handle) }
        if !passwords.isEmpty {
            var area: [UInt8] = []
            for password in passwords {
                area.append(number: passwordSession)
                area.append(number: UInt16(0))  // no nonce
                area.append(number: UInt8(0))  // no attributes
                area.append(sized: password)
            }
            body.append(number: UInt32(area.count))
            body += area
        }
        body += parameters
        var command: [UInt8] = []
        command.append(number: passwords.isEmpty ? withoutSessions : withSessions)
        command.append(number: UInt32(10 + body.count))
        command.append(number: code)
        return command + body
    }
}

/// The answer of a TPM to a command.
struct TPMAnswer: Equatable {
    let code: UInt32
    /// The bytes behind the code.
    private let rest: [UInt8]
    private let hasSessions: Bool

    /// The number of bytes of the longest answer of any TPM.
    static let longest = 4096
    /// The number of bytes before the parameters.
    static let headerLength = 10

    /// Returns nil unless the bytes are one whole answer.
    init?(_ bytes: [UInt8]) {
        guard Self.length(of: bytes) == bytes.count else { return nil }
        var reader = ByteReader(bytes[...])
        guard let tag = reader.number(UInt16.self), reader.number(UInt32.self) != nil,
            let code = reader.number(UInt32.self)
        else { return nil }
        self.code = code
        hasSessions = tag == TPMCommand.withSessions
        rest = Array(reader.rest)
    }

    /// The length that an answer says it has; nil unless it begins as an answer does.
    static func length(of start: [UInt8]) -> Int? {
        var reader = ByteReader(start[...])
        guard let tag = reader.number(UInt16.self), let length = reader.number(UInt32.self),
            tag == TPMCommand.withoutSessions || tag == TPMCommand.withSessions,
            (headerLength...longest).contains(Int(length))
        else { return nil }
        return Int(length)
    }

    var isSuccess: Bool { code == 0 }

    /// Whether the TPM asks to send the command again: it was interrupted, tests itself, or protects its memory from wear.
    var isToRepeat: Bool { [0x908, 0x90A, 0x920, 0x922, 0x923].contains(code) }

    /// Whether the command names an index that does not exist.
    var isOfNoIndex: Bool { code == 0x18B || code == 0x28B }

    /// Whether the index has no value yet.
    var isOfNoValue: Bool { code == 0x14A }

    /// Whether the password is not that of the index.
    var isOfWrongPassword: Bool { code & 0xFF == 0xA2 || code & 0xFF == 0x8E }

    /// The value of a counter; nil if the answer has none.
    var count: UInt64? {
        guard isSuccess, hasSessions else { return nil }
        var reader = ByteReader(rest[...])
        guard reader.number(UInt32.self) != nil, reader.number(UInt16.self) == TPMCommand.counterSize else {
            return nil
        }
        return reader.number(UInt64.self)
    }

    /// Whether an index is a counter as `TPMCommand.define` makes it.
    var isOfCounter: Bool { attributes.map { $0 & ~TPMCommand.writtenAttribute } == TPMCommand.counterAttributes }

    /// Whether the counter has been raised.
    var isOfCounterWithValue: Bool { isOfCounter && attributes != TPMCommand.counterAttributes }

    /// The attributes of an index.
    private var attributes: UInt32? {
        var reader = ByteReader(rest[...])
        guard isSuccess, reader.number(UInt16.self) != nil, reader.number(UInt32.self) != nil,
            reader.number(UInt16.self) != nil
        else { return nil }
        return reader.number()
    }
}

extension [UInt8] {
    /// Appends the length in two bytes, and then the bytes.
    fileprivate mutating func append(sized bytes: [UInt8]) {
        append(number: UInt16(bytes.count))
        append(contentsOf: bytes)
    }
}
