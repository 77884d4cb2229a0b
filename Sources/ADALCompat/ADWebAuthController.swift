public import Foundation

/// Control over the sign-in page that is open.
public final class ADWebAuthController: NSObject {
    /// Gives up this process's interactive request, if one is under way.
    ///
    /// Its result has the status `AD_USER_CANCELLED` and the error code `ERROR_UI_USER_CANCEL` (403). The browser's page
    /// stays, but leads nowhere. From any thread.
    public class func cancelCurrentWebAuthSession() {
        InteractiveSession.shared.cancel()
    }
}
