internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// Clients that are too many, too slow or too large.
@Suite(.bounded) struct HostileClientTests {
    #if os(Linux)
        @Test func sleepsUntilItCanAcceptTheConnectionsThatWait() async throws {
            let emulator = try TestProcess("entra-emulator")
            let line = try await emulator.waitForOutput("\n")
            let url = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))["url"] ?? ""
            let process = ObservedProcess(processID: emulator.processID)
            try await process.limitOpenFiles(to: 8)
            let client = try RawConnection(to: url)
            try await client.get("/")
            try await process.waitUntilAsleep()
            try await process.limitOpenFiles(to: 1024)
            #expect(try await client.receive().hasPrefix("HTTP/1.1 200 OK\r\n"))
            emulator.signal(SIGTERM)
            #expect(try await emulator.finish().status == 0)
        }
    #endif
}
