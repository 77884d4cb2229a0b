internal import Foundation
internal import TokenModel

extension SharingGroup {
    /// The group that an ADAL app names; nil or blank is a group of the program's own, as ADAL's was the app's bundle ID.
    init(adalName name: String?) {
        let own = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        self = name.flatMap(SharingGroup.init) ?? SharingGroup(own) ?? .standard
    }
}
