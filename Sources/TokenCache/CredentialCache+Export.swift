package import TokenModel

extension CredentialCache {
    /// A sharing group's credentials as another library writes them, refresh tokens in the clear.
    ///
    /// - Throws: `unsupportedFunctionality` (-51114) for a format that is only read.
    package func export(_ format: CacheFormat, of group: SharingGroup, now: Int64) throws(TokenError) -> [UInt8] {
        let partition = partition(group)
        switch format {
        case .msalJSON: return Array(UnifiedExport(partition, clouds: clouds, now: now).json.utf8)
        case .adalArchive: return ADALArchiveExport(partition, now: now).bytes
        case .adalJSON:
            throw TokenError(
                .unsupportedFunctionality, "this format is only imported; export as msal-json or adal-archive")
        }
    }
}
