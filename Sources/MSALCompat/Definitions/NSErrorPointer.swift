#if !canImport(ObjectiveC)
    public import class Foundation.NSError

    /// Where an error is put by an initialiser that does not throw; pass `&error` for a `var error: NSError?`.
    ///
    /// Foundation has this name on Apple's platforms only.
    public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif
