// ADAL's own module brought UIKit's or AppKit's types along. MSALCompat exports the same module, so that an app with both has
// one `UIViewController`.
@_exported public import AppleTypes
