internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Shows or changes the source of the store's key.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Show or change where the key of the agent's store comes from.",
        discussion: """
            file: a file of mode 0600 beside the store. credential: sso-agent.key in $CREDENTIALS_DIRECTORY, from the \
            service manager. secret-service: the desktop's keyring, through secret-tool. passphrase: asked for after each \
            start of the agent (ssoctl unlock).

            Examples:
              ssoctl key                           where the key comes from
              ssoctl key set secret-service        keep it in the desktop's keyring
            """,
        subcommands: [KeyShowCommand.self, KeySetCommand.self], defaultSubcommand: KeyShowCommand.self)
}

/// The result of the key commands.
struct KeyPrintout: Encodable {
    var source: String?
    var place: String
    var open: Bool
    var problem: String?
    /// The command that helps with the problem; nil if none is known to.
    var nextCommand: String?

    init(_ status: KeyStatus) {
        (source, place, open) = (status.source?.name, status.place, status.isOpen)
        (problem, nextCommand) = (status.statement, status.nextCommand)
    }

    var text: String {
        guard open else {
            let remedy = nextCommand.map { [Problem.line(of: $0)] } ?? []
            return (["the store is not open: \(problem ?? "no key")"] + remedy).joinedLines
        }
        return ["the store is open; its key comes from \(source ?? "an unknown source"): \(place)"].joinedLines
    }
}

/// Shows the source of the store's key.
struct KeyShowCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show where the store's key comes from.",
        discussion: """
            Examples:
              ssoctl key show
              ssoctl key show --json | jq -r .source
            """)

    @OptionGroup var output: OutputOptions

    func execute(_ agent: AgentClient) async throws(TokenError) -> KeyPrintout {
        KeyPrintout(try await agent.keyStatus())
    }

    func describe(_ printout: KeyPrintout) -> String? { printout.text }
}

/// Changes the source of the store's key.
struct KeySetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change where the store's key comes from.",
        discussion: """
            Passphrases, of 8 characters at least, are asked for on the terminal, or are lines of standard input: the current one \
            if the store is sealed with one, then the new one. The agent asks for a confirmation, on the terminal unless the \
            configuration says otherwise.

            Examples:
              ssoctl key set passphrase            asked for after each start
              ssoctl key set file
            """)

    @Argument(
        help: "file, credential, secret-service or passphrase.",
        completion: .list(KeySource.allCases.map(\.name)), transform: KeySource.named)
    var source: KeySource

    @OptionGroup var output: OutputOptions

    var writesMeanwhile: Bool { true }

    func execute(_ agent: AgentClient) async throws(TokenError) -> KeyPrintout {
        let status = try await agent.keyStatus()
        let isSealed = status.isOpen && status.source == .passphrase
        let command = "ssoctl key set \(source.name)"
        let current =
            isSealed ? try Terminal.passphrase("Current passphrase of sso-agent's store: ", again: command) : nil
        let passphrase = source == .passphrase ? try Terminal.newPassphrase(again: command) : nil
        return KeyPrintout(
            try await agent.setKey(SetKey(source: source, passphrase: passphrase, currentPassphrase: current)))
    }

    func describe(_ printout: KeyPrintout) -> String? { printout.text }
}

/// Locks the agent's store.
struct LockCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock the agent's store: it forgets its key and every token until ssoctl unlock.",
        discussion: """
            Apps get no tokens meanwhile, and sign-ins in progress end. Any process of yours can unlock the store, unless its key \
            comes from a passphrase, or from a keyring that is locked as well.

            Examples:
              ssoctl lock                          for example when the screen is locked
            """)

    @OptionGroup var output: OutputOptions

    func execute(_ agent: AgentClient) async throws(TokenError) -> KeyPrintout { KeyPrintout(try await agent.lock()) }

    func describe(_ printout: KeyPrintout) -> String? { printout.open ? printout.text : "The store is locked." }
}

/// Opens the agent's store.
struct UnlockCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Open the agent's store: with its passphrase, or by reading the key from its source once more.",
        discussion: """
            The passphrase is asked for on the terminal, or is the first line of standard input. If it is forgotten, or the keyring that \
            had the key was deleted, the store is lost: stop the agent with “kill” and the process ID that “ssoctl status” shows, move \
            the file cache.sqlite out of the folder ~/.local/state/sso-agent, and sign in again. A keyring finds the key by the \
            path of that folder: if it was moved or renamed, move it back. An agent that was started outside of the desktop's session may \
            not reach the keyring: stop it, and start it in the session.

            Examples:
              ssoctl unlock
              pass show sso-agent | ssoctl unlock
            """)

    @OptionGroup var output: OutputOptions

    var writesMeanwhile: Bool { true }

    func execute(_ agent: AgentClient) async throws(TokenError) -> KeyPrintout {
        let status = try await agent.keyStatus()
        guard !status.isOpen else { return KeyPrintout(status) }
        let passphrase =
            status.source == .passphrase
            ? try Terminal.passphrase("Passphrase of sso-agent's store: ", again: "ssoctl unlock") : nil
        // The derivation of the key from a passphrase is slow on purpose, and a keyring may ask its user first.
        return try await TickingLine.during { () throws(TokenError) in
            KeyPrintout(try await agent.unlock(Unlock(passphrase: passphrase)))
        }
    }

    func describe(_ printout: KeyPrintout) -> String? { printout.text }
}
