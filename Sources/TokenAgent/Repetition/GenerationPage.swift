internal import AgentSocket
internal import CAgentSystem
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The page by which apps know whether a result that they keep still holds: its generations change before a change of an answer is
/// acknowledged to anybody (docs/coherence.md).
///
/// It belongs to the thread of the event loop: when that ends in whatever way, the kernel marks the page.
final class GenerationPage {
    private let page: UnsafeMutableRawPointer
    /// The descriptor for apps, through which they can read the page and not write to it.
    let descriptor: Int32
    private var isRetired = false

    /// Makes the page; nil where the system has none. Called on the event loop.
    init?() {
        var descriptor: Int32 = -1
        guard let page = agent_make_generation_page(&descriptor) else { return nil }
        self.page = page
        self.descriptor = descriptor
    }

    /// A page that was not retired stays mapped: the kernel writes to it when the thread ends.
    deinit {
        close(descriptor)
        if isRetired { agent_unmap_generation_page(page) }
    }

    /// Ends the results that apps keep of these answers. Called before the change is acknowledged.
    func end(_ answers: AlteredAnswers) {
        switch answers {
        case .ofAccounts(let accounts, let group):
            agent_change_generation(page, GenerationSlot.of(nil, in: group))
            for account in accounts { agent_change_generation(page, GenerationSlot.of(account, in: group)) }
        // Hosts and whole groups have no generations of their own, since their changes are rare.
        case .ofGroup, .ofHost, .all: agent_change_generation(page, GenerationSlot.ofEverything)
        }
    }

    /// Ends all results that apps keep, since the agent stops. Called on the event loop.
    func retire() {
        guard !isRetired else { return }
        isRetired = true
        agent_retire_generation_page(page)
    }
}
