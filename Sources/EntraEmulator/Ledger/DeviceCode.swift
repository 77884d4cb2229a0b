internal import Foundation

/// A sign-in that goes on at another device.
struct DeviceCode: Sendable {
    enum Decision: Sendable, Equatable {
        case pending
        case approved(username: String?)
        case declined
        case redeemed
    }

    var userCode: String
    var clientID: String
    var realm: String
    var scopes: [String]
    var resource: String?
    var expiresOn: Date
    var polls = 0
    var decision = Decision.pending
}
