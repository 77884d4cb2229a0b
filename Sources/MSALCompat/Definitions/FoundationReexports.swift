// MSAL's own module re-exports these, so that a file with only `import MSAL` can name `URL`, `NSError`,
// `DispatchQueue` and `UIViewController`.
@_exported public import AppleTypes
@_exported public import Dispatch
@_exported public import Foundation
