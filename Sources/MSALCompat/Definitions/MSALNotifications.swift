// Notifications of embedded web views and of Apple's broker. The names exist; nothing here posts them.

/// A web view started to load. Inert: never posted.
public let MSALWebAuthDidStartLoadNotification = "MSALWebAuthDidStartLoadNotification"

/// A web view finished loading. Inert: never posted.
public let MSALWebAuthDidFinishLoadNotification = "MSALWebAuthDidFinishLoadNotification"

/// A web view failed to load. Inert: never posted.
public let MSALWebAuthDidFailNotification = "MSALWebAuthDidFailNotification"

/// Web authentication ended. Inert: never posted.
public let MSALWebAuthDidCompleteNotification = "MSALWebAuthDidCompleteNotification"

/// The broker app is about to open. Inert: never posted.
public let MSALWebAuthWillSwitchToBrokerApp = "MSALWebAuthWillSwitchToBrokerApp"

/// The broker app answered. Inert: never posted.
public let MSALWebAuthDidReceiveResponseFromBroker = "MSALWebAuthDidReceiveResponseFromBroker"
