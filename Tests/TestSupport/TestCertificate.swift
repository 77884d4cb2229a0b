internal import Foundation

/// A certificate for this machine and for the identity providers of the tests, valid until 2120. It is self-signed, and its
/// key is public.
package struct TestCertificate: Sendable {
    /// The file with the certificate, which is its own issuer.
    package let certificateFile: String
    /// The file with its key.
    package let keyFile: String

    /// Writes both files (PEM) into a folder.
    package init(in folder: TemporaryFolder) throws {
        certificateFile = folder.file("cert.pem")
        keyFile = folder.file("key.pem")
        try Data(Self.certificate.utf8).write(to: URL(fileURLWithPath: certificateFile))
        try Data(Self.key.utf8).write(to: URL(fileURLWithPath: keyFile))
    }

    /// For `localhost`, 127.0.0.1, Microsoft's clouds, and `*` of b2clogin.com, ciamlogin.com, contoso.com, contoso.example
    /// and fabrikam.example.
    package static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIICyDCCAm2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
        c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
        CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABImUOv94ZMMVW7aB
        DmRJZ5hj9cCSwu5Ykuo2oc7ln8cuxjJ5atflI3dFscvc6E5GZ/st/4Z5My5hID3C
        BBldOxejggGsMIIBqDCCAXQGA1UdEQSCAWswggFngglsb2NhbGhvc3SHBH8AAAGC
        GWxvZ2luLm1pY3Jvc29mdG9ubGluZS5jb22CEWxvZ2luLndpbmRvd3MubmV0ghNs
        b2dpbi5taWNyb3NvZnQuY29tgg9zdHMud2luZG93cy5uZXSCGGxvZ2luLm1pY3Jv
        c29mdG9ubGluZS51c4IXbG9naW4udXNnb3ZjbG91ZGFwaS5uZXSCIGxvZ2luLnBh
        cnRuZXIubWljcm9zb2Z0b25saW5lLmNughZsb2dpbi5jaGluYWNsb3VkYXBpLmNu
        ghhsb2dpbi5taWNyb3NvZnRvbmxpbmUuZGWCImVudGVycHJpc2VyZWdpc3RyYXRp
        b24ud2luZG93cy5uZXSCDiouYjJjbG9naW4uY29tgg8qLmNpYW1sb2dpbi5jb22C
        DSouY29udG9zby5jb22CESouY29udG9zby5leGFtcGxlghIqLmZhYnJpa2FtLmV4
        YW1wbGUwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUkYdsAB5aCfxCaOLCmjoM
        9LFLEGEwCgYIKoZIzj0EAwIDSQAwRgIhALvrqs2981XasfmhZKn5QmbeV6moaZT5
        uECYVrqnSewyAiEAwXGBDWLJBGdCWWOTPYoxbA53c36g2uEGuWR01kPHSlY=
        -----END CERTIFICATE-----
        """

    package static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqyL7/+B60IIuIBZX
        CXD+/CP7eq+q4xTT7I0YiQiir02hRANCAASJlDr/eGTDFVu2gQ5kSWeYY/XAksLu
        WJLqNqHO5Z/HLsYyeWrX5SN3RbHL3OhORmf7Lf+GeTMuYSA9wgQZXTsX
        -----END PRIVATE KEY-----
        """
}
