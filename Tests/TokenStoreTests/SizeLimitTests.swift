internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// A store that has reached its limit takes no more, and can be opened: nothing that it has is lost.
@Suite(.bounded) struct SizeLimitTests {
    private static let limit = 4 << 20

    @Test func growsNoFurtherThanItCanBeRead() async throws {
        let folder = try StoreFolder()
        let store = try open(folder)
        var number = 0
        var refusal: TokenError?
        while refusal == nil, number < 2000 {
            do throws(TokenError) { try await store.commit([.put(.sample(number, size: 10_000))]) } catch {
                refusal = error
            }
            number += 1
        }
        #expect(refusal?.code == .storeUnavailable)
        #expect(refusal?.message.contains("sign out of accounts that are not needed") == true)
        #expect(store.report.size > Self.limit - 200_000 && store.report.size <= Self.limit)
        let size = store.report.size
        // Records are renewed, and removed; there is room again afterwards.
        try await store.commit([.put(.sample(1, size: 10_000, fill: 0x42))])
        await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(2, size: 100_000))]) }
        try await store.commit((10..<60).map { .delete(.sample($0)) })
        #expect(store.report.size < size)
        try await store.commit([.put(.sample(5000, size: 10_000))])
        await store.close()

        let again = try open(folder)
        let records = try await again.load()
        #expect(records.count == number - 1 - 50 + 1)
        #expect(records.contains(.sample(1, size: 10_000, fill: 0x42)))
        #expect(again.report.notices.isEmpty)
        await again.close()
    }

    /// Renewals that make the records longer, little by little.
    @Test func refusesRenewalsThatGrowPastTheLimit() async throws {
        let folder = try StoreFolder()
        let store = try open(folder)
        try await store.commit((0..<400).map { .put(.sample($0, size: 9_000)) })
        var refused = 0
        for number in 0..<400 {
            do throws(TokenError) { try await store.commit([.put(.sample(number, size: 30_000))]) } catch {
                refused += 1
            }
        }
        #expect(refused > 300)
        #expect(store.report.size <= Self.limit + Self.limit / 32)
        await store.close()
    }

    /// An import is made whole or not at all.
    @Test func refusesAnImportThatIsTooLong() async throws {
        let folder = try StoreFolder()
        let store = try open(folder)
        try await store.commit([.put(.sample(1))])
        let error = await #expect(throws: TokenError.self) {
            try await store.commit { number in
                number < 100 ? (0..<10).map { .put(.sample(100 + 10 * number + $0, size: 10_000)) } : nil
            }
        }
        #expect(error?.code == .storeUnavailable)
        try await store.commit([.put(.sample(2))])
        await store.close()
        let again = try open(folder)
        #expect(try await again.load() == [.sample(1), .sample(2)])
        await again.close()
    }

    @Test func knowsRecordsThatAreLongerThanOneCanBe() {
        #expect(!StoreChange.put(.sample(1, size: 16_000_000)).isTooLong)
        #expect(StoreChange.put(.sample(1, size: 16 << 20)).isTooLong)
        #expect(!StoreChange.delete(.sample(1)).isTooLong)
    }

    private func open(_ folder: StoreFolder) throws -> Store {
        var options = StoreOptions { 1_900_000_000 }
        options.sizeLimit = Self.limit
        return try Store.open(directory: folder.path, options)
    }
}
