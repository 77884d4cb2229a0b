// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals
// Notifications of embedded web views and of Apple's broker. The names exist; nothing here posts them. Swift imports the
// original's as `NSNotification.Name`s where their names end in "Notification", and the others as `String!`.

public import Foundation

extension NSNotification.Name {
    /// A web view started to load. Inert: never posted.
    public static let MSALWebAuthDidStartLoad: NSNotification.Name! = .init(MSALWebAuthDidStartLoadNotification)

    /// A web view finished loading. Inert: never posted.
    public static let MSALWebAuthDidFinishLoad: NSNotification.Name! = .init(MSALWebAuthDidFinishLoadNotification)

    /// A web view failed to load. Inert: never posted.
    public static let MSALWebAuthDidFail: NSNotification.Name! = .init(MSALWebAuthDidFailNotification)

    /// Web authentication ended. Inert: never posted.
    public static let MSALWebAuthDidComplete: NSNotification.Name! = .init(MSALWebAuthDidCompleteNotification)
}

/// A web view started to load. Inert: never posted.
public let MSALWebAuthDidStartLoadNotification = "MSALWebAuthDidStartLoadNotification"

/// A web view finished loading. Inert: never posted.
public let MSALWebAuthDidFinishLoadNotification = "MSALWebAuthDidFinishLoadNotification"

/// A web view failed to load. Inert: never posted.
public let MSALWebAuthDidFailNotification = "MSALWebAuthDidFailNotification"

/// Web authentication ended. Inert: never posted.
public let MSALWebAuthDidCompleteNotification = "MSALWebAuthDidCompleteNotification"

/// The broker app is about to open. Inert: never posted.
public let MSALWebAuthWillSwitchToBrokerApp: String! = "MSALWebAuthWillSwitchToBrokerApp"

/// The broker app answered. Inert: never posted.
public let MSALWebAuthDidReceiveResponseFromBroker: String! = "MSALWebAuthDidReceiveResponseFromBroker"
