/// A certificate chain and its private key, both PEM files.
package struct TLSFiles: Sendable, Equatable {
    package var certificateChain: String
    package var privateKey: String

    package init(certificateChain: String, privateKey: String) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}
