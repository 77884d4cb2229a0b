internal import AgentSocket
internal import CAgentSystem
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentClient

#if os(Linux)
    /// The page of generations, as an app gets it: from an agent, or from a process that pretends to be one.
    @Suite(.bounded) struct GenerationPageTests {
        /// A page of an agent: the thread of the test.
        private final class Page {
            let memory: UnsafeMutableRawPointer
            let descriptor: Int32

            init() throws {
                var descriptor: Int32 = -1
                memory = try #require(agent_make_generation_page(&descriptor))
                self.descriptor = descriptor
            }

            /// A descriptor to send.
            var copy: Int32 { dup(descriptor) }

            func view() throws -> GenerationPageView { try #require(GenerationPageView(descriptor: copy)) }

            func change(_ account: HomeAccountID?) {
                agent_change_generation(memory, GenerationSlot.of(account, in: .standard))
            }
        }

        private static func account(_ name: String) throws -> HomeAccountID { try #require(HomeAccountID(name)) }

        @Test func endsWhatWasNotedOfAnAccountOnly() throws {
            let page = try Page()
            let accounts = try ["alice.tenant", "bob.tenant"].map(Self.account)
            let view = try page.view()
            func notes() -> [NotedGenerations] {
                accounts.map { NotedGenerations(view, slot: GenerationSlot.of($0, in: .standard)) }
            }
            var noted = notes()
            #expect(noted.map(\.areCurrent) == [true, true])
            page.change(accounts[0])
            #expect(noted.map(\.areCurrent) == [false, true])
            noted = notes()
            agent_change_generation(page.memory, GenerationSlot.ofEverything)
            #expect(noted.map(\.areCurrent) == [false, false])
            noted = notes()
            agent_retire_generation_page(page.memory)
            #expect(noted.map(\.areCurrent) == [false, false])
        }

        /// The lower case of these names may differ between an app's library and the agent's.
        @Test func hasOneSlotForNamesThatAreNotASCII() throws {
            let (one, other) = (try Self.account("\u{E9}.tenant"), try Self.account("e\u{301}.tenant"))
            #expect(GenerationSlot.of(one, in: .standard) == GenerationSlot.of(other, in: .standard))
            let groups = try ["\u{E9}", "e\u{301}"].map { try #require(SharingGroup($0)) }
            #expect(GenerationSlot.of(nil, in: groups[0]) == GenerationSlot.of(nil, in: groups[1]))
        }

        @Test func cannotBeWrittenOrShortenedByAnApp() throws {
            let page = try Page()
            let descriptor = page.copy
            defer { close(descriptor) }
            var byte: UInt8 = 0
            #expect(pwrite(descriptor, &byte, 1, 1024) == -1)
            #expect(ftruncate(descriptor, 0) == -1)
            #expect(ftruncate(descriptor, 8192) == -1)
            #expect(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) == MAP_FAILED)
            let mapping = try #require(mmap(nil, 4096, PROT_READ, MAP_SHARED, descriptor, 0))
            #expect(mprotect(mapping, 4096, PROT_READ | PROT_WRITE) == -1)
            munmap(mapping, 4096)
        }

        // MARK: What a client refuses

        /// The bytes of a page.
        private func content() throws -> [UInt8] {
            let page = try Page()
            return [UInt8](UnsafeRawBufferPointer(start: page.memory, count: Int(AGENT_PAGE_SIZE)))
        }

        /// Memory with these bytes and seals. Nothing in the module of the C library that Swift knows makes such memory.
        private func memory(_ bytes: [UInt8], seals: Int32) throws -> Int32 {
            typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
            let symbol = try #require(dlsym(nil, "memfd_create"))
            // The type is that of the function's declaration in C.
            let create = unsafeBitCast(symbol, to: Create.self)
            let allowsSealing: UInt32 = 2
            let descriptor = create("page", allowsSealing)
            try #require(descriptor >= 0)
            #expect(pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
            let addSeals: Int32 = 1033
            if seals != 0 { #expect(fcntl(descriptor, addSeals, seals) == 0) }
            return descriptor
        }

        /// `F_SEAL_SEAL`, `SHRINK`, `GROW` and `FUTURE_WRITE`.
        private static let allSeals: [Int32] = [0x1, 0x2, 0x4, 0x10]

        @Test func acceptsAPageWithAllSeals() throws {
            let seals = Self.allSeals.reduce(0, |)
            #expect(GenerationPageView(descriptor: try memory(try content(), seals: seals)) != nil)
        }

        @Test(arguments: allSeals)
        func refusesAPageWithoutASeal(missing: Int32) throws {
            let seals = Self.allSeals.reduce(0, |) & ~missing
            #expect(GenerationPageView(descriptor: try memory(try content(), seals: seals)) == nil)
        }

        @Test(arguments: [0, 1, 1024, 4095, 4097, 8192])
        func refusesAPageOfAnotherSize(size: Int) throws {
            let bytes = Array((try content() + [UInt8](repeating: 0, count: 8192)).prefix(size))
            let seals = Self.allSeals.reduce(0, |)
            #expect(GenerationPageView(descriptor: try memory(bytes, seals: seals)) == nil)
        }

        /// The magic bytes, the layout, the number of slots, and the place of the word of life.
        @Test(arguments: [(0, 0x78), (8, 2), (12, 1), (16, 1), (17, 0x10), (18, 1), (19, 0xFF)] as [(Int, UInt8)])
        func refusesAPageOfAnotherLayout(offset: Int, value: UInt8) throws {
            var bytes = try content()
            bytes[offset] = value
            let seals = Self.allSeals.reduce(0, |)
            #expect(GenerationPageView(descriptor: try memory(bytes, seals: seals)) == nil)
        }

        /// The word of life is 0 too, as soon as its agent has ended.
        @Test func refusesAPageOfNobody() throws {
            var bytes = try content()
            for offset in 20..<24 { bytes[offset] = 0 }
            let seals = Self.allSeals.reduce(0, |)
            #expect(GenerationPageView(descriptor: try memory(bytes, seals: seals)) == nil)
        }

        @Test func refusesAFileAndADescriptorOfAnotherKind() throws {
            let folder = try TemporaryFolder()
            try Data(try content()).write(to: URL(fileURLWithPath: folder.file("page")))
            #expect(GenerationPageView(descriptor: open(folder.file("page"), O_RDWR)) == nil)
            #expect(GenerationPageView(descriptor: open("/dev/null", O_RDWR)) == nil)
            #expect(GenerationPageView(descriptor: -1) == nil)
        }

        @Test func goesOnWithoutAPageThatItRefuses() throws {
            let results = KeptResults()
            results.attach(descriptor: open("/dev/null", O_RDWR))
            let request = AcquireTokenSilent(
                parameters: TokenParameters(
                    clientID: try #require(ClientID("app")), scopes: ScopeSet(["User.Read"])),
                account: AccountReference(username: "alice@contoso.com"))
            #expect(results.generations(for: request) == nil)
            #expect(results.result(for: request) == nil)
        }

        // MARK: Connections

        private static let answer: TokenResult = {
            var result = TokenResult(
                accessToken: Secret("at"), tokenType: "Bearer", expiresOn: 3000, scopes: ["User.Read"], idToken: nil,
                account: Account(
                    homeAccountID: nil, username: "alice@contoso.com", environment: "login.example", source: .msal),
                tenantProfile: nil, authority: "https://login.example/common", correlationID: CorrelationID(),
                isFromCache: true)
            result.freshness = 0...2000
            return result
        }()

        /// The agent of an earlier connection may live on: its page does not tell what the next one has done.
        @Test func keepsNothingOfAnEarlierConnection() throws {
            let pages = (try Page(), try Page())
            let results = KeptResults(clock: { 1000 })
            let request = AcquireTokenSilent(
                parameters: TokenParameters(
                    clientID: try #require(ClientID("app")), scopes: ScopeSet(["User.Read"])),
                account: AccountReference(username: "alice@contoso.com"))
            results.attach(descriptor: pages.0.copy)
            let first = try #require(results.generations(for: request))
            results.keep(Self.answer, for: request, since: first)
            #expect(results.result(for: request) != nil)
            results.attach(descriptor: pages.1.copy)
            #expect(results.result(for: request) == nil, "of the former connection")
            results.keep(Self.answer, for: request, since: first)
            #expect(results.result(for: request) == nil, "of a request that was sent on the former connection")
            let second = try #require(results.generations(for: request))
            results.keep(Self.answer, for: request, since: second)
            #expect(results.result(for: request) != nil)
            results.drop()
            #expect(results.result(for: request) == nil, "of a connection that is closed")
        }

        /// A process that asks for many tokens must not grow by all of them.
        @Test func keepsNoMoreMemoryThanItsLimit() throws {
            let page = try Page()
            let results = KeptResults(clock: { 1000 })
            results.attach(descriptor: page.copy)
            func keep(_ buffer: Int64, length: Int) throws -> AcquireTokenSilent {
                let request = AcquireTokenSilent(
                    parameters: TokenParameters(
                        clientID: try #require(ClientID("app")), scopes: ScopeSet(["User.Read"])),
                    account: AccountReference(username: "alice@contoso.com"), expirationBuffer: buffer)
                var answer = Self.answer
                answer.accessToken = Secret(String(repeating: "t", count: length))
                results.keep(answer, for: request, since: try #require(results.generations(for: request)))
                return request
            }
            let requests = try (1...20).map { try keep($0, length: 50_000) }
            // Of 512 KiB, with what an entry has besides its token.
            #expect(requests.count { results.result(for: $0) != nil } == 10)
            let longest = try keep(0, length: 64 << 10)
            #expect(results.result(for: longest) == nil)
        }

        /// The clock of a system can be set back again and again, so that by it the token would never expire.
        @Test func keepsAResultNoLongerThanItsTimeByAClockThatNobodySets() throws {
            let page = try Page()
            let results = KeptResults(clock: { 1000 })
            results.attach(descriptor: page.copy)
            func keep(_ buffer: Int64, until end: Int64) throws -> AcquireTokenSilent {
                let request = AcquireTokenSilent(
                    parameters: TokenParameters(
                        clientID: try #require(ClientID("app")), scopes: ScopeSet(["User.Read"])),
                    account: AccountReference(username: "alice@contoso.com"), expirationBuffer: buffer)
                var answer = Self.answer
                answer.freshness = 0...end
                results.keep(answer, for: request, since: try #require(results.generations(for: request)))
                return request
            }
            let (short, long) = (try keep(1, until: 1000), try keep(2, until: 2000))
            let start = agent_read_times().uptime
            // The page is valid as long as this thread lives, so that the test stays on it.
            while agent_read_times().uptime <= start { _ = poll(nil, 0, 10) }
            #expect(results.result(for: short) == nil)
            #expect(results.result(for: long) != nil)
        }

        // MARK: Processes

        @Test func isInvalidWhenTheThreadOfTheAgentEnds() throws {
            /// What the thread has made.
            final class Made: Sendable {
                let page = Mutex<(view: GenerationPageView?, wasValid: Bool)>((nil, false))
            }
            let made = Made()
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                {
                    guard let argument = $0 else { return nil }
                    let made = Unmanaged<Made>.fromOpaque(argument).takeUnretainedValue()
                    var descriptor: Int32 = -1
                    guard agent_make_generation_page(&descriptor) != nil else { return nil }
                    let view = GenerationPageView(descriptor: descriptor)
                    made.page.withLock { $0 = (view, view?.isValid == true) }
                    return nil
                }, Unmanaged.passUnretained(made).toOpaque())
            try #require(code == 0)
            // The kernel marks the page before it wakes whoever waits for the end of the thread.
            pthread_join(thread, nil)
            let page = made.page.withLock { $0 }
            #expect(page.wasValid && page.view?.isValid == false)
        }

        /// A child has the memory of its parent, and another process ID: what the policy has allowed the parent is not the child's.
        @Test func isInvalidInAChildOfTheProcess() throws {
            let view = try Page().view()
            #expect(view.isValid)
            let child = try CopiedProcess.make()
            if child == 0 { _exit(view.isValid ? 1 : 0) }
            try #require(child > 0)
            #expect(CopiedProcess.wait(for: child) == 0)
            #expect(view.isValid)
        }
    }
#endif
