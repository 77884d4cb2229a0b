/// The source of the key that encrypts the store's key. The numbers are on disk and on the wire.
@nonexhaustive public enum KeySource: Int32, Sendable, CaseIterable {
    /// A file of mode 0600 beside the store: protects only against a copy of the store without the file.
    case file = 1
    /// `sso-agent.key` in `$CREDENTIALS_DIRECTORY`, from a service manager that stores it, for example sealed by a TPM.
    case credential = 2
    /// The desktop's keyring, through its Secret Service.
    case secretService = 3
    /// A passphrase that the user enters after each start of the agent.
    case passphrase = 4

    /// The name on the command line.
    public var name: String {
        switch self {
        case .file: "file"
        case .credential: "credential"
        case .secretService: "secret-service"
        case .passphrase: "passphrase"
        }
    }

    /// The source with a name of the command line; nil if there is none.
    public init?(name: String) {
        guard let source = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = source
    }

    /// The source with a name, or an error for the command line.
    @Sendable package static func named(_ name: String) throws(UnknownName) -> KeySource {
        guard let source = KeySource(name: name) else {
            throw UnknownName(description: "“\(name)” is not a source of keys")
        }
        return source
    }

    /// The error of a name that no source has.
    package struct UnknownName: Error, CustomStringConvertible {
        package let description: String
    }
}

/// Returns the source of the store's key. The reply is `KeyStatus`. PROTOCOL.md, "get_key".
public struct GetKey: Sendable, Equatable {
    /// Creates the request.
    public init() {}
}

/// The source of the store's key, and whether the store is open.
public struct KeyStatus: Sendable, Equatable {
    /// The source; nil until the agent has found it, as while the store is being loaded.
    public var source: KeySource?
    /// The place of the key in words, such as a path.
    public var place: String
    /// Whether the agent has the key, so that the store is open.
    public var isOpen: Bool
    /// The reason why the store is not open, with what to do; nil if it is open. A command that helps is at its end; see `statement`.
    public var problem: String?
    /// The command line that helps with `problem`; nil if none is known to, and from an agent of another user. A program shows it, and
    /// never runs it by itself.
    public var nextCommand: String?
    /// Whether a lock found the store locked, or an unlock found it open. Known in the agent only: it is no part of the message.
    package var isUnchanged = false

    /// Creates the reply.
    public init(
        source: KeySource?, place: String, isOpen: Bool, problem: String? = nil, nextCommand: String? = nil
    ) {
        self.source = source
        self.place = place
        self.isOpen = isOpen
        self.problem = problem
        self.nextCommand = nextCommand
    }

    /// The problem without the command at its end, for a program that shows `nextCommand` on a line of its own; nil if the store is open.
    public var statement: String? {
        guard let problem else { return nil }
        var error = TokenError(.storeUnavailable, problem)
        error.details.nextCommand = nextCommand
        return error.statement
    }
}

extension GetKey: AgentRequest {
    package typealias Reply = KeyStatus
    package static let number: UInt32 = 31
}

/// Changes the source of the store's key, and the key itself: every record is sealed again. The reply is `KeyStatus`.
///
/// PROTOCOL.md, "set_key".
public struct SetKey: Sendable, Equatable {
    /// The new source.
    public var source: KeySource
    /// The new passphrase, for the source `.passphrase`; nil for the others. It has at least 8 characters.
    public var passphrase: Secret?
    /// The passphrase with which the store is sealed now; nil if its key has another source.
    public var currentPassphrase: Secret?

    /// Creates the request.
    public init(source: KeySource, passphrase: Secret? = nil, currentPassphrase: Secret? = nil) {
        self.source = source
        self.passphrase = passphrase
        self.currentPassphrase = currentPassphrase
    }
}

extension SetKey {
    /// The number of characters of the shortest passphrase that a store is sealed with.
    private static let shortestPassphrase = 8

    /// Checks the length of a passphrase that is to be used from now on.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) if there is none, or it is too short.
    package static func check(newPassphrase passphrase: Secret?) throws(TokenError) {
        // The first byte of each character; the others of UTF-8 begin with the bits 10.
        let characters = passphrase?.withBytes { bytes in bytes.count { $0 & 0xC0 != 0x80 } } ?? 0
        guard characters >= shortestPassphrase else {
            throw TokenError(
                .invalidDeveloperParameter, "the passphrase has fewer than \(shortestPassphrase) characters")
        }
    }
}

extension SetKey: AgentRequest {
    package typealias Reply = KeyStatus
    package static let number: UInt32 = 32
    package var purpose: String? { "change the key of the token store" }

    /// - Throws: `invalidDeveloperParameter` (-51112) for a passphrase that is missing or too short.
    package func validate() throws(TokenError) {
        if source == .passphrase { try Self.check(newPassphrase: passphrase) }
    }

    /// False: the current passphrase of a repeated request is not the current one any more, so that a change that has been made would be
    /// reported as refused.
    package var isRepeatable: Bool { false }
}

/// Opens the store: with a passphrase, or by reading the key from its source once more. The reply is `KeyStatus`.
///
/// PROTOCOL.md, "unlock".
public struct Unlock: Sendable, Equatable {
    /// The passphrase; nil if the key has another source.
    public var passphrase: Secret?

    /// Creates the request.
    public init(passphrase: Secret? = nil) {
        self.passphrase = passphrase
    }
}

extension Unlock: AgentRequest {
    package typealias Reply = KeyStatus
    package static let number: UInt32 = 33
}

/// Locks the store: the agent forgets its key and every token until an `Unlock`. The reply is `KeyStatus`.
///
/// PROTOCOL.md, "lock".
public struct Lock: Sendable, Equatable {
    /// Creates the request.
    public init() {}
}

extension Lock: AgentRequest {
    package typealias Reply = KeyStatus
    package static let number: UInt32 = 40
}
