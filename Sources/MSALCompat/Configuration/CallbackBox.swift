/// A callback that the app registered for the whole process.
///
/// Unchecked because the type that apps know is not `@Sendable`, while MSAL has always called it from whatever thread
/// has something to say: the contract is that such a callback is safe to call from any.
struct CallbackBox<Callback>: @unchecked Sendable {
    let callback: Callback?

    init(_ callback: Callback?) {
        self.callback = callback
    }
}
