// Notifications of embedded web views and of Apple's broker. The names exist; nothing here posts them.

/// A web view started to load. Never posted here.
public let MSALWebAuthDidStartLoadNotification = "MSALWebAuthDidStartLoadNotification"

/// A web view finished loading. Never posted here.
public let MSALWebAuthDidFinishLoadNotification = "MSALWebAuthDidFinishLoadNotification"

/// A web view failed to load. Never posted here.
public let MSALWebAuthDidFailNotification = "MSALWebAuthDidFailNotification"

/// Web authentication ended. Never posted here.
public let MSALWebAuthDidCompleteNotification = "MSALWebAuthDidCompleteNotification"

/// The broker app is about to open. Never posted here.
public let MSALWebAuthWillSwitchToBrokerApp = "MSALWebAuthWillSwitchToBrokerApp"

/// The broker app answered. Never posted here.
public let MSALWebAuthDidReceiveResponseFromBroker = "MSALWebAuthDidReceiveResponseFromBroker"
