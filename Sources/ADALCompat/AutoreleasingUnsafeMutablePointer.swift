#if !canImport(ObjectiveC)
    /// Where ADAL's methods put their error: pass `nil`, or `&error` of a `var error: ADAuthenticationError?`.
    ///
    /// Apple's systems have a type of this name in the standard library.
    public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
#endif
