internal import CacheTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// A cache that another library wrote; Fixtures/README.md lists them.
struct Fixture: Sendable, CustomTestStringConvertible {
    var path: String
    var format: CacheFormat

    static let archives = [
        "adal_keychain_item_ios.bplist", "adal_v1_token_item_mac.bplist", "ios-2.6-access-token.bplist",
        "ios-2.6-adfs.bplist", "ios-2.6-family-refresh-token.bplist", "ios-2.6-refresh-token.bplist",
        "ios-2.7-item.bplist", "ios-2.7-mam.bplist", "mac-2.6-cache.plist", "mac-2.7-cache.plist",
    ].map { Fixture(path: "adal-archive/\($0)", format: .adalArchive) }

    static let adal = [
        "01_authcode_single_user", "02_second_resource_via_mrrt_rotated_rt", "03_plus_guest_email_user",
        "04_client_credentials", "05_adfs_no_resource_no_idtoken", "06_devicecode_common_authority",
    ].map { Fixture(path: "adal-json/\($0).json", format: .adalJSON) }

    static let unified = [
        "dotnet_CacheFromTheFuture.json", "dotnet_ExpectedTokenCache.json", "dotnet_MultiTenantOBOTokenCache.json",
        "dotnet_SingleCloudTokenCache.json", "dotnet_TokenCacheWithWamId.json",
        "dotnet_cachecompat_dotnet_dictionary.bin", "dotnet_cachecompat_python.bin", "dotnet_token_cache_adfs.json",
        "dotnet_token_cache_one_acc_seed.json", "go_devapps_serialized_cache.json", "go_serialized_cache_1.1.1.json",
        "go_test_serialized_cache.json", "go_v1.0_cache.json", "go_v1.0_v1.1_cache.json", "java_full_cache.json",
        "java_sample_cache.json", "java_serialized_cache.json", "node_cache.json", "node_unrecognized_entities.json",
        "python_1.39.0_adfs.json", "python_1.39.0_basic.json", "python_1.39.0_foci.json", "python_1.39.0_guest.json",
    ].map { Fixture(path: "msal-json/\($0)", format: .msalJSON) }

    static let all = archives + adal + unified

    var testDescription: String { path }

    var bytes: [UInt8] {
        get throws { try Self.bytes(path) }
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        let folder = PackageFolder.root.appending(path: "Tests/CacheFormatsTests/Fixtures")
        return [UInt8](try Data(contentsOf: folder.appending(path: path)))
    }

    /// Reads the file at the time `now`, in the time zone UTC.
    func read(now: Int64 = Self.whenWritten) throws -> ForeignCache {
        try Self.read(try bytes, format, now: now)
    }

    static func read(_ bytes: [UInt8], _ format: CacheFormat, now: Int64 = whenWritten) throws(TokenError)
        -> ForeignCache
    {
        try ForeignCache(ForeignFile(bytes), format: format, now: now, timeZone: .gmt)
    }

    /// 2026-11-21 03:00, when the caches of the Python libraries had just been written.
    static let whenWritten: Int64 = 1_795_230_000
}

extension CredentialCache {
    /// Imports a cache as the agent does, and returns the plan.
    @discardableResult
    mutating func merge(_ foreign: ForeignCache, in group: SharingGroup = .standard) -> ImportPlan {
        let plan = changes(importing: foreign, in: group)
        apply(plan.changes, in: group)
        return plan
    }

    @discardableResult
    mutating func merge(
        _ bytes: [UInt8], _ format: CacheFormat, now: Int64 = Fixture.whenWritten
    ) throws -> ImportPlan {
        merge(try Fixture.read(bytes, format, now: now))
    }

    /// Every record of a group, by its place in the store.
    func records(in group: SharingGroup = .standard) -> [CacheRecord] {
        let partition = partition(group)
        return partition.accounts.values.flatMap(\.records) + partition.apps.values.map(CacheRecord.appMetadata)
            + partition.opaqueRecords.values.map(CacheRecord.opaque)
    }
}

/// `2 accounts, 1 refresh tokens, …`, to compare at a glance.
extension ImportCache.Report {
    var counts: [Int64] { [accounts, refreshTokens, accessTokens, idTokens] }
    var reasons: [String] { skipped.map(\.reason) }
}
