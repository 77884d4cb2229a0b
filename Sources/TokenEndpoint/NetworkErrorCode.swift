/// The `NSURLErrorDomain` numbers that apps know network failures by.
enum NetworkErrorCode {
    static let timedOut: Int32 = -1001
    static let hostNotFound: Int32 = -1003
    static let cannotConnect: Int32 = -1004
    static let connectionLost: Int32 = -1005
    static let offline: Int32 = -1009
    static let tlsFailure: Int32 = -1200
}
