internal import TokenModel

extension String {
    /// The text with an ellipsis in the place of each secret, and of the beginning of one: a provider may repeat what it was sent in the
    /// description of an error, whole or cut.
    ///
    /// Linear in the length of the text, whatever it repeats: at each byte, a limited number of bytes is compared in vain.
    func hiding(_ secrets: [Secret]) -> String {
        var text = self
        for secret in secrets where secret.count >= SecretLength.shortest { text = text.hiding(secret) }
        return text
    }

    private func hiding(_ secret: Secret) -> String {
        let bytes = Array(utf8)
        return secret.withBytes { secret in
            let recognised = min(secret.count, SecretLength.recognised)
            var kept: [UInt8] = []
            var index = 0
            while index < bytes.count {
                var equal = 0
                while equal < secret.count, index + equal < bytes.count, bytes[index + equal] == secret[equal] {
                    equal += 1
                }
                if equal >= recognised {
                    kept += "…".utf8
                    index += equal
                } else {
                    kept.append(bytes[index])
                    index += 1
                }
            }
            return String(decoding: kept, as: UTF8.self)
        }
    }
}

private enum SecretLength {
    /// A shorter secret is not hidden: it could be a part of any word.
    static let shortest = 8
    /// The number of bytes by which the beginning of a longer secret is recognised.
    static let recognised = 32
}
