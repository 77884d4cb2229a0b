/// What a record is. The numbers are on disk: never renumber or reuse one.
package enum RecordKind: Int32, Sendable, CaseIterable {
    case account = 1
    case accessToken = 2
    case refreshToken = 3
    case idToken = 4
    case appMetadata = 5
    case accountMetadata = 6
    case cloud = 7
    case principal = 8
    case redemption = 9
    case carried = 10
}
