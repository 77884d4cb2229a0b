/// What is told how an acquisition ended.
public typealias ADAuthenticationCallback = (ADAuthenticationResult) -> Void
