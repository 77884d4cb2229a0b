internal import AgentSocket
public import TokenModel

/// How a person is shown the way to sign in.
public struct SignInPresenter: Sendable {
    /// Which way to try.
    public enum Way: Sendable {
        /// A browser where there is one, else a code to type on another device.
        case automatic
        /// A browser only.
        case browser
        /// A code to type on another device.
        case deviceCode
    }

    /// Which way to try.
    public var way: Way
    /// The commands to open a page with, best first; `%s` stands for the URL, which is appended where there is none.
    public var browserCommands: [String]
    /// Shows the device code's message to the person; called once, before the wait.
    public var showDeviceCode: @Sendable (BeginDeviceCode.Reply) -> Void
    /// Shows a message for the developers of the app: that its redirect URI cannot be used on this system, and what to register
    /// instead. Called before the browser is opened.
    public var showNotice: @Sendable (String) -> Void

    /// A presenter.
    ///
    /// - Parameters:
    ///   - way: which way to try.
    ///   - browserCommands: nil takes `$BROWSER`, else the desktop's own opener where there is a display.
    ///   - showDeviceCode: nil writes the message to standard error.
    ///   - showNotice: nil writes the text to standard error.
    public init(
        way: Way = .automatic, browserCommands: [String]? = nil,
        showDeviceCode: (@Sendable (BeginDeviceCode.Reply) -> Void)? = nil,
        showNotice: (@Sendable (String) -> Void)? = nil
    ) {
        self.way = way
        self.browserCommands = browserCommands ?? AgentEnvironment.current.browserCommands
        self.showDeviceCode = showDeviceCode ?? { StandardError.write($0.message + "\n") }
        self.showNotice = showNotice ?? { StandardError.write($0 + "\n") }
    }
}
