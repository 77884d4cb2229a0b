internal import CHeapCount
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// The memory of accounts, counted in bytes of the heap.
@Suite(
    .bounded, .enabled(if: heap_count() > 0, "the C library counts its heap"),
    .disabled(if: Sanitizer.isOn, "a sanitizer has a heap of its own"))
struct LoadedCacheMemoryTests {
    /// An account with an access token, a refresh token and an ID token, which have 3.7 kB together. Secrets have memory of their
    /// own, which is not counted.
    @Test func keepsAnAccountInSixKilobytesBesideItsSecrets() async {
        await #expect(processExitsWith: .success) {
            let stored = try Self.records(accounts: 1_000)
            let before = heap_count()
            let loaded = LoadedCache(stored)
            let bytes = (heap_count() - before) / 1_000
            withExtendedLifetime(loaded) {}
            guard loaded.cache.accountCount == 1_000, bytes < 6_000 else {
                FileHandle.standardError.write(Data("\(bytes) bytes an account\n".utf8))
                exit(1)
            }
        }
    }

    /// An account as after a start, when its tokens are in the store only.
    @Test func keepsAnAccountWithoutItsTokensInTwoKilobytes() async {
        await #expect(processExitsWith: .success) {
            let stored = try Self.records(accounts: 1_000)
            let before = heap_count()
            let loaded = {
                var loaded = LoadedCache()
                let context = LoadedCache.makeContext(canReadAgain: true)
                for record in stored { loaded.add(LoadedCache.decode(record, context)) }
                loaded.finish()
                return loaded
            }()
            let bytes = (heap_count() - before) / 1_000
            withExtendedLifetime(loaded) {}
            guard loaded.cache.accountCount == 1_000, bytes < 2_000 else {
                FileHandle.standardError.write(Data("\(bytes) bytes an account\n".utf8))
                exit(1)
            }
        }
    }

    @Test func releasesWhatItHasReadForAnImport() async {
        await #expect(processExitsWith: .success) {
            let stored = try Self.records(accounts: 200)
            // The first load also creates what stays for the life of the process, which is not counted.
            _ = LoadedCache(stored)
            let before = heap_count()
            for _ in 0..<20 { _ = LoadedCache(stored) }
            let kept = Int(heap_count()) - Int(before)
            guard kept < 100_000 else {
                FileHandle.standardError.write(Data("\(kept) bytes are not released\n".utf8))
                exit(1)
            }
        }
    }

    private static func records(accounts: Int) throws -> [StoredRecord] {
        let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
        let parameters = TokenParameters.sample(
            ["User.Read", "Mail.Read"], authority: try Authority("https://login.microsoftonline.com/\(tenant)"))
        return try (0..<accounts).flatMap { number -> [StoredRecord] in
            let claims = """
                {"ver":"2.0","oid":"\(number)","tid":"\(tenant)","preferred_username":"user-\(number)@contoso.com",\
                "sub":"\(number)","padding":"\(String(repeating: "p", count: 700))"}
                """
            let tokens = IssuedTokens(
                accessToken: Secret(String(repeating: "a", count: 1_500)), expiresIn: 3_600,
                refreshToken: Secret(String(repeating: "r", count: 1_200)),
                idToken: "e30.\(Base64URL.encode(Data(claims.utf8))).",
                homeAccountID: HomeAccountID(uid: "object-\(number)", utid: tenant))
            return try CredentialCache().changes(
                saving: tokens, from: .signIn, parameters, at: parameters.authority, now: 1_800_000_000
            ).changes.compactMap { change in
                guard case .put(let record) = change.stored(in: .standard) else { return nil }
                return record
            }
        }
    }
}
