internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Has the agent open its store.
struct Unlock: Command {
    static let configuration = CommandConfiguration(
        abstract: "Open the agent's store: with its passphrase, or by asking its key's source once more.",
        discussion: "The passphrase is asked for on the terminal, or is the first line of standard input.")

    @OptionGroup var output: OutputOptions

    func execute(_ agent: AgentClient) async throws(TokenError) -> KeyPrintout {
        let status = try await agent.keyStatus()
        guard !status.isOpen else { return KeyPrintout(status) }
        let passphrase =
            status.source == .passphrase ? try Terminal.passphrase("Passphrase of sso-agent's store: ") : nil
        return KeyPrintout(try await agent.unlock(TokenModel.Unlock(passphrase: passphrase)))
    }

    func describe(_ printout: KeyPrintout) -> String? { printout.text }
}
