internal import Foundation

/// As much of a SAML assertion as the emulator reads.
struct SAMLAssertion: Sendable {
    /// Who it speaks of: the text of `NameID` (SAML 2.0) or `NameIdentifier` (SAML 1.1).
    let subject: String

    /// From the `assertion` parameter, base64 or base64url; nil when it names nobody.
    init?(parameter: String) {
        var base64 = parameter.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let data = Data(base64Encoded: base64) else { return nil }
        let xml = String(decoding: data, as: UTF8.self)
        guard let name = xml.firstRange(of: "NameID") ?? xml.firstRange(of: "NameIdentifier"),
            let end = xml[name.upperBound...].firstIndex(of: ">")
        else { return nil }
        let text = xml[xml.index(after: end)...].prefix { $0 != "<" }
        let subject = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !subject.isEmpty else { return nil }
        self.subject = subject
    }
}
