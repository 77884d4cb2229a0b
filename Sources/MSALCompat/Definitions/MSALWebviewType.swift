/// Which kind of web view shows the sign-in page.
///
/// Here every kind means the system browser, or a device code where there is none. The numbers are those of iOS.
@nonexhaustive(warn) public enum MSALWebviewType: Int, Sendable {
    /// The platform's choice.
    case `default` = 0
    /// An authentication session.
    case authenticationSession = 1
    /// A Safari view controller.
    case safariViewController = 2
    /// An embedded web view.
    case wkWebView = 3
}
