#if !canImport(UIKit) && !canImport(AppKit)
    /// Stands in for UIKit's type where there is no UIKit. Inert: no view controller is presented here.
    @nonexhaustive(warn) public enum UIModalPresentationStyle: Int, Sendable {
        /// Inert.
        case fullScreen = 0
        /// Inert.
        case pageSheet = 1
        /// Inert.
        case formSheet = 2
        /// Inert.
        case currentContext = 3
        /// Inert.
        case custom = 4
        /// Inert.
        case overFullScreen = 5
        /// Inert.
        case overCurrentContext = 6
        /// Inert.
        case popover = 7
        /// Inert.
        case none = -1
        /// Inert.
        case automatic = -2
    }
#endif
