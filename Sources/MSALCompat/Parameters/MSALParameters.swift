public import Dispatch
public import Foundation

/// What every request has.
open class MSALParameters: NSObject {
    /// Where to call the completion block. Nil: interactive requests and sign-outs call it on the main thread, silent requests
    /// on any, and what asks for accounts or the device on the calling thread, before the method returns.
    open var completionBlockQueue: DispatchQueue?

    /// Parameters without a queue.
    public override init() {}
}
