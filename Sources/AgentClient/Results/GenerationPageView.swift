internal import AgentSocket
internal import CAgentSystem

/// The generation page of the connected agent, as this process sees it: read-only, unmapped with the last reference.
final class GenerationPageView: Sendable {
    private let view: SharedView

    /// Unchecked because of the pointers: the memory is only read, atomically, and mapped as long as the object lives.
    private struct SharedView: @unchecked Sendable {
        let page: agent_page_view
    }

    /// Maps the page that an agent has sent, and closes the descriptor.
    ///
    /// Nil if it has another layout, or if another process could shorten it or write to it. The client then sends every
    /// request.
    init?(descriptor: Int32) {
        var page = agent_page_view()
        guard agent_view_generation_page(descriptor, &page) == 0 else { return nil }
        view = SharedView(page: page)
    }

    deinit { withUnsafePointer(to: view.page) { agent_end_page_view($0) } }

    /// Whether the agent lives, and this process is the one that has connected to it, not a child of it.
    var isValid: Bool { withUnsafePointer(to: view.page) { agent_page_is_valid($0) != 0 } }

    func generation(_ slot: UInt32) -> UInt64 { agent_generation(view.page.page, slot) }
}

/// The generations that the answer to a request depends on, read before the request was sent.
struct NotedGenerations: Sendable {
    let page: GenerationPageView
    private let slot: UInt32
    private let everything: UInt64
    private let own: UInt64

    init(_ page: GenerationPageView, slot: UInt32) {
        self.page = page
        self.slot = slot
        everything = page.generation(GenerationSlot.ofEverything)
        own = page.generation(slot)
    }

    /// Whether nothing has been acknowledged since that could have changed the answer.
    var areCurrent: Bool {
        page.isValid && page.generation(GenerationSlot.ofEverything) == everything && page.generation(slot) == own
    }
}
