internal import Foundation

/// A certificate for this machine and for the identity providers of the tests, valid until 2120. It is self-signed, and its
/// key is public.
package struct TestCertificate: Sendable {
    /// The file with the certificate, which is its own issuer.
    package let certificateFile: String
    /// The file with its key.
    package let keyFile: String

    /// Writes both files (PEM) into a folder.
    package init(in folder: TemporaryFolder, _ certificate: String = Self.certificate) throws {
        certificateFile = folder.file("cert.pem")
        keyFile = folder.file("key.pem")
        try Data(certificate.utf8).write(to: URL(fileURLWithPath: certificateFile))
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

    /// For `localhost` and 127.0.0.1, valid until 2021.
    package static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBZzCCAQygAwIBAgICLPIwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxo
        b3N0MB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
        bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEiZQ6/3hkwxVbtoEO
        ZElnmGP1wJLC7liS6jahzuWfxy7GMnlq1+Ujd0Wxy9zoTkZn+y3/hnkzLmEgPcIE
        GV07F6NOMEwwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMA8GA1UdEwEB/wQF
        MAMBAf8wHQYDVR0OBBYEFJGHbAAeWgn8Qmjiwpo6DPSxSxBhMAoGCCqGSM49BAMC
        A0kAMEYCIQD5OBbKAe+6A8JuPVLP9X7bfHBwdPEjAMx69wV6BTbhEwIhAJ/WELWk
        DLjOPuGoptZg41lP7p7FHynKIjgRh/FysGjd
        -----END CERTIFICATE-----
        """

    /// For `localhost` and 127.0.0.1, valid from 2100.
    package static let notYetValid = """
        -----BEGIN CERTIFICATE-----
        MIIBazCCARCgAwIBAgICLPMwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxo
        b3N0MCIYDzIxMDAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNV
        BAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABImUOv94ZMMV
        W7aBDmRJZ5hj9cCSwu5Ykuo2oc7ln8cuxjJ5atflI3dFscvc6E5GZ/st/4Z5My5h
        ID3CBBldOxejTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMB
        Af8EBTADAQH/MB0GA1UdDgQWBBSRh2wAHloJ/EJo4sKaOgz0sUsQYTAKBggqhkjO
        PQQDAgNJADBGAiEAyimpTa7f2hZ8BQUoP+VmE9O1qYX0hr4sOiuguRr5FKcCIQD7
        6uZ7U+zAz2MLUAhIodITjEIy7JLUpYAsUK0RBT2OYA==
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
