internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import TokenModel

@Suite(.bounded) struct SecretMemoryTests {
    /// Sizes at which the rounding changes, and sizes around the end of a chunk.
    static let edges = [
        0, 1, 15, 63, 64, 65, 1023, 1024, 1025, 1535, 1536, 1537, 16_383, 16_384, 16_385, 20_480, 20_481, 65_536,
        65_537, 1 << 20,
    ]

    @Test(arguments: edges) func givesZeroedRoomOfTheWholeSize(count: Int) {
        let memory = SecretMemory()
        let blocks = (0..<10).map { _ in memory.allocate(count) }
        for block in blocks {
            #expect(block.count == count)
            #expect(Int(bitPattern: block.baseAddress) % 16 == 0)
            #expect(block.allSatisfy { $0 == 0 })
        }
        // Every byte of each block is writable, and no two blocks overlap.
        for (number, block) in blocks.enumerated() { block.fill(UInt8(number + 1)) }
        for (number, block) in blocks.enumerated() { #expect(block.allSatisfy { $0 == UInt8(number + 1) }) }
        blocks.forEach(memory.deallocate)
    }

    @Test(arguments: edges.filter { $0 <= 16_384 }) func wipesWhatComesBackAndGivesItOutAgain(count: Int) {
        let memory = SecretMemory()
        let first = memory.allocate(count)
        first.fill(0xAB)
        memory.deallocate(first)
        // The block stays mapped, so that its content can be read as the next owner would read it.
        #expect(first.allSatisfy { $0 == 0 })
        let second = memory.allocate(count)
        #expect(second.baseAddress == first.baseAddress)
        #expect(second.allSatisfy { $0 == 0 })
        let third = memory.allocate(count)
        #expect(third.baseAddress != second.baseAddress)
        memory.deallocate(second)
        memory.deallocate(third)
    }

    #if canImport(Glibc)
        @Test(.disabled(if: Sanitizer.isOn, "released memory stays"))
        func givesTheMemoryOfManySecretsBackToTheSystem() async {
            await #expect(processExitsWith: .success) {
                let memory = SecretMemory()
                let kept = memory.allocate(1500)
                kept.fill(0xAB)
                let blocks = (0..<20_000).map { memory.allocate(1000 + $0 % 1000) }
                for block in blocks { block.fill(1) }
                let before = try #require(try SecretMemoryTests.kilobytes("VmRSS:"))
                blocks.forEach(memory.deallocate)
                memory.releaseUnused()
                let after = try #require(try SecretMemoryTests.kilobytes("VmRSS:"))
                // Together they had 30 MB.
                #expect(before - after > 20_000)
                #expect(kept.allSatisfy { $0 == 0xAB })
                #expect(memory.allocate(1500).allSatisfy { $0 == 0 })
            }
        }
    #endif

    @Test func givesBlocksOutAgainWhoseMemoryTheSystemHad() {
        let memory = SecretMemory()
        let sizes = (0..<2_000).map { 1 + $0 * 37 % 3_000 }
        let first = sizes.map(memory.allocate)
        for block in first { block.fill(0xAB) }
        // Every seventh stays, so that few blocks that are free have whole pages.
        for (number, block) in first.enumerated() where number % 7 != 0 { memory.deallocate(block) }
        memory.releaseUnused()
        let second = sizes.enumerated().filter { $0.offset % 7 != 0 }.map { memory.allocate($0.element) }
        #expect(
            Set(second.map(\.baseAddress))
                == Set(first.enumerated().filter { $0.offset % 7 != 0 }.map(\.element.baseAddress)))
        #expect(second.allSatisfy { $0.allSatisfy { $0 == 0 } })
        for (number, block) in second.enumerated() { block.fill(UInt8(number % 100 + 1)) }
        for (number, block) in second.enumerated() {
            #expect(block.allSatisfy { $0 == UInt8(number % 100 + 1) }, "\(number)")
        }
        for (number, block) in first.enumerated() where number % 7 == 0 { #expect(block.allSatisfy { $0 == 0xAB }) }
    }

    /// Blocks of different sizes, as for passphrases and exported caches.
    @Test func givesWhatIsLargeBackToTheSystem() async {
        // In a process of its own, since other tests allocate memory too.
        await #expect(processExitsWith: .success) {
            let memory = SecretMemory()
            #if canImport(Glibc)
                // Without what malloc reserves for another thread, 64 MB at once.
                let before = try #require(try SecretMemoryTests.kilobytes("VmData:"))
            #endif
            for number in 1...300 { memory.deallocate(memory.allocate(1 << 20 + number * 4096)) }
            #expect(memory.lockedCount == 0)
            #if canImport(Glibc)
                let after = try #require(try SecretMemoryTests.kilobytes("VmData:"))
                // Together they would have 480 MB.
                #expect(after - before < 50_000)
            #endif
        }
    }

    /// In a process of its own, since the limit of locked memory is that of the process.
    @Test func locksWhatIsLargeAgainAfterItWasGivenBack() async {
        await #expect(processExitsWith: .success) {
            let memory = SecretMemory()
            for _ in 0..<100 {
                let block = memory.allocate(500_000)
                memory.deallocate(block)
            }
            let block = memory.allocate(500_000)
            let isLocked = memory.lockedCount > 0
            memory.deallocate(block)
            // Without permission to lock memory there is nothing to check.
            let fresh = SecretMemory()
            let first = fresh.allocate(500_000)
            #expect(isLocked == (fresh.lockedCount > 0))
            fresh.deallocate(first)
        }
    }

    @Test func givesASmallerSecretNothingOfALargerOne() {
        let memory = SecretMemory()
        let large = memory.allocate(1024)
        large.fill(0xAB)
        memory.deallocate(large)
        // The same block, of which less is used.
        let small = memory.allocate(970)
        #expect(small.baseAddress == large.baseAddress)
        #expect(large.allSatisfy { $0 == 0 })
        memory.deallocate(small)
    }

    /// In a process of its own, where no other thread has the memory next.
    @Test func wipesASecretWhenTheLastReferenceGoes() async {
        await #expect(processExitsWith: .success) {
            // A larger block would be unmapped.
            var secret: Secret? = Secret(bytes: [UInt8](repeating: 0xAB, count: 12_345))
            var copy = secret
            let bytes = secret?.withBytes { $0 }
            secret = nil
            #expect(bytes?.allSatisfy { $0 == 0xAB } == true)
            withExtendedLifetime(copy) {}
            copy = nil
            #expect(bytes?.allSatisfy { $0 == 0 } == true)
        }
    }

    @Test func keepsSecretsOfManyThreadsApart() async {
        let memory = SecretMemory()
        let damaged = await withTaskGroup(of: Int.self) { group in
            for lane in 1...8 {
                group.addTask {
                    await withCheckedContinuation { done in
                        Thread.detachNewThread { done.resume(returning: Self.churn(memory, UInt8(lane))) }
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(damaged == 0)
    }

    #if canImport(Glibc)
        @Test(arguments: [1, 1024, 16_384, 16_385, 300_000]) func leavesItOutOfCoreDumps(count: Int) throws {
            let memory = SecretMemory()
            let block = memory.allocate(count)
            defer { memory.deallocate(block) }
            let start = UInt(bitPattern: block.baseAddress)
            for address in [start, start + UInt(count - 1)] {
                #expect(try Self.flags(at: address).contains("dd"), "\(count)")
            }
            // Ordinary memory does not have the flag, so that the test can fail.
            let ordinary = [UInt8](repeating: 1, count: 300_000)
            let elsewhere = ordinary.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            #expect(try !Self.flags(at: elsewhere + 100_000).contains("dd"))
        }

        @Test(.disabled(if: Sanitizer.isOn, "a sanitizer lets no memory be locked"))
        func locksALittleAndNoMore() async {
            // In a process of its own, since locked memory is counted by process.
            await #expect(processExitsWith: .success) {
                let memory = SecretMemory()
                let blocks = (0..<100).map { _ in memory.allocate(50_000) }
                let locked = try #require(try SecretMemoryTests.lockedKilobytes())
                #expect(locked <= 1024)
                blocks.forEach(memory.deallocate)
                // Root of a container may have a limit, too.
                let page = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 1 << 12)
                defer { page.deallocate() }
                if mlock(page, 1 << 20) == 0 { #expect(locked > 900) }
            }
        }

        /// AArch64 has pages of up to 64 KiB, of which a block of 20 KiB locks a whole one.
        @Test(.disabled(if: Sanitizer.isOn, "a sanitizer lets no memory be locked"), arguments: [16_384, 65_536])
        func countsWholePagesAsLocked(pageSize: Int) async {
            await #expect(processExitsWith: .success) { [pageSize = pageSize as Int] in
                func inPages(of size: Int) -> Int { (20_480 + size - 1) / size * size }
                let memory = SecretMemory(pageSize: pageSize)
                let blocks = (0..<100).map { _ in memory.allocate(20_000) }
                #expect(memory.lockedCount.isMultiple(of: pageSize) && memory.lockedCount <= 1 << 20)
                // This machine may have smaller pages.
                let most = (1 << 20) / inPages(of: pageSize) * inPages(of: sysconf(Int32(_SC_PAGESIZE)))
                let locked = try #require(try SecretMemoryTests.lockedKilobytes())
                #expect(locked << 10 <= most)
                blocks.forEach(memory.deallocate)
                #expect(memory.lockedCount == 0)
            }
        }

        @Test func doesWithoutLockingWhereItIsRefused() async {
            await #expect(processExitsWith: .success) {
                var limit = rlimit()
                setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
                // The limit does not apply to root.
                if geteuid() == 0 { try #require(setuid(65534) == 0) }
                for count in SecretMemoryTests.edges {
                    let secret = Secret(bytes: [UInt8](repeating: 0xAB, count: count))
                    #expect(secret.count == count)
                    #expect(secret.withBytes { $0.allSatisfy { $0 == 0xAB } })
                }
                let memory = SecretMemory()
                let block = memory.allocate(100)
                block.fill(0xAB)
                memory.deallocate(block)
                #expect(block.allSatisfy { $0 == 0 })
                #expect(try SecretMemoryTests.lockedKilobytes() == 0)
            }
        }

        /// The kernel's flags for the mapping of an address.
        private static func flags(at address: UInt) throws -> [Substring] {
            // The file is longer than a single read returns.
            let file = try #require(fopen("/proc/self/smaps", "r"))
            defer { fclose(file) }
            var bytes: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 65_536)
            while case let count = fread(&part, 1, part.count, file), count > 0 { bytes += part[..<count] }
            let text = String(decoding: bytes, as: UTF8.self)
            var isInside = false
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                if ends.count == 2 { isInside = ends[0] <= address && address < ends[1] }
                if isInside, words[0] == "VmFlags:" { return Array(words.dropFirst()) }
            }
            return []
        }

        private static func lockedKilobytes() throws -> Int? { try kilobytes("VmLck:") }

        fileprivate static func kilobytes(_ name: String) throws -> Int? {
            let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) }
        }
    #endif

    /// Allocates and deallocates blocks of all sizes.
    ///
    /// - Returns: the number of blocks that were not zero at first, or were changed by others.
    private static func churn(_ memory: SecretMemory, _ mark: UInt8) -> Int {
        var (held, damaged) = ([UnsafeMutableRawBufferPointer](), 0)
        for number in 0..<600 {
            let block = memory.allocate(number * 37 % 2_000 + (number % 50 == 0 ? 16_000 : 1))
            if !block.allSatisfy({ $0 == 0 }) { damaged += 1 }
            block.fill(mark)
            held.append(block)
            guard held.count > 5 else { continue }
            let oldest = held.removeFirst()
            if !oldest.allSatisfy({ $0 == mark }) { damaged += 1 }
            memory.deallocate(oldest)
        }
        held.forEach(memory.deallocate)
        return damaged
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func fill(_ byte: UInt8) { initializeMemory(as: UInt8.self, repeating: byte) }
}
