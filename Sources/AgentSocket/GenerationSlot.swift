internal import CAgentSystem
package import TokenModel

/// The slots of the generation page, which agent and apps compute in the same way. PROTOCOL.md, "The generation page".
package enum GenerationSlot {
    /// The slot of the generation that every answer depends on.
    package static let ofEverything = UInt32(AGENT_SLOT_OF_EVERYTHING)

    /// The slot of the answers for an account of a sharing group, or if `account` is nil of those that depend on any account of the
    /// group. Several accounts may have the same slot.
    package static func of(_ account: HomeAccountID?, in group: SharingGroup) -> UInt32 {
        var name = group.name
        guard var identifier = account?.text else {
            return name.withUTF8 { agent_generation_slot(characters($0), $0.count, nil, 0) }
        }
        return name.withUTF8 { name in
            identifier.withUTF8 { identifier in
                agent_generation_slot(characters(name), name.count, characters(identifier), identifier.count)
            }
        }
    }

    private static func characters(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
        UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    }
}
