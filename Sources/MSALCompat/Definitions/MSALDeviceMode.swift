/// Whether a device belongs to one person or to several.
@nonexhaustive(warn) public enum MSALDeviceMode: UInt, Sendable {
    /// One person's.
    case `default` = 0
    /// Shared by several.
    case shared = 1
}
