@testable internal import AuditLog

/// Properties that hold for the bytes of an audit log, whatever they are. Shared with the fuzzer in Tests/Fuzz, so this file does not
/// import Testing.
enum AuditProperties {
    /// Returns a description of the violation; nil if there is none.
    static func broken(_ bytes: [UInt8]) -> String? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        var check = AuditCheck(mayHaveDropped: false)
        var chain = AuditChain()
        for line in lines {
            let items = check.items(of: line)
            let isRead = AuditLine(line) != nil
            let found = items.contains { if case .line = $0 { true } else { false } }
            guard found == isRead, isRead || items.count == 1 else { return "a line has \(items.count) items" }
            chain.follow(line, number: AuditLine(line)?.number ?? chain.number + 1)
        }
        return brokenChain(chain, check, bytes)
    }

    /// Whatever a file has, lines can be added to it, and these are in order.
    private static func brokenChain(_ chain: AuditChain, _ check: AuditCheck, _ bytes: [UInt8]) -> String? {
        var (chain, check) = (chain, check)
        let number = chain.number
        let text = String(decoding: bytes.prefix(400), as: UTF8.self)
        let peer = AuditEvent.Peer(
            userID: 1000, processID: 1, peerClass: "own", executable: text, unit: text, app: text)
        let event = AuditEvent(
            .token, time: 1_800_000_000, peer: peer, socket: text, request: text, clientID: text, account: text,
            username: text, scopes: text.split(separator: " ").map(String.init), outcome: "ok", count: 2)
        for added in 1...2 {
            let line = chain.append(event)
            guard !line.contains(UInt8(ascii: "\n")), let read = AuditLine(line) else {
                return "an added line is damaged"
            }
            guard read.number == number + Int64(added) else { return "\(read.number) follows \(number)" }
            let items = check.items(of: line)
            guard items.count == 1 else { return "an added line has findings: \(items)" }
        }
        return nil
    }
}
