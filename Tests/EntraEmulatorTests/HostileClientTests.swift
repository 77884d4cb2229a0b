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
            #expect(try await process.sleepsBetweenAttempts())
            try await process.limitOpenFiles(to: 1024)
            #expect(try await client.receive().hasPrefix("HTTP/1.1 200 OK\r\n"))
            emulator.signal(SIGTERM)
            #expect(try await emulator.finish().status == 0)
        }
    #endif

    /// RFC 9110 section 10.1.1.
    @Test func tellsAClientThatAsksToSendItsBody() async throws {
        try await withEmulator { emulator in
            let client = try RawConnection(to: emulator.url)
            let fields = "Host: localhost\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n"
            try await client.write("POST /control/revoke HTTP/1.1\r\n\(fields)\r\n")
            #expect(try await client.receive() == "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.write("{}")
            #expect(try await client.receive().hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    /// A body without an end would take all of the memory.
    @Test(arguments: [(2_097_152, 400), (2_097_153, 413)])
    func readsNoMoreThanTheLimitOfABody(size: Int, status: Int) async throws {
        try await withEmulator { emulator in
            let body = String(repeating: " ", count: size)
            let reply = try await HTTP.post("\(emulator.url)/control/revoke", body)
            #expect(reply.status == status)
        }
    }

    /// RFC 9110 section 9.3.2: a client takes content for the beginning of the next response.
    @Test func sendsNoContentToARequestForTheHead() async throws {
        try await withEmulator { emulator in
            let client = try RawConnection(to: emulator.url)
            let (first, next) = ("HEAD /common/discovery/keys", "GET /control/users")
            try await client.write("\(first) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await client.write("\(next) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            var received = ""
            while case let part = try await client.receive(), !part.isEmpty { received += part }
            let parts = received.components(separatedBy: "\r\n\r\n")
            #expect(parts.count == 3, "\(received)")
            #expect(parts.prefix(2).allSatisfy { $0.hasPrefix("HTTP/1.1 200 OK\r\n") }, "\(received)")
            #expect(parts.last == "[]", "\(received)")
        }
    }

    private static let page = "/common/.well-known/openid-configuration"

    /// An emulator with a large reply.
    private func options(size: Int) -> EmulatorOptions {
        var options = EmulatorOptions()
        options.settings.openIDConfiguration["padding"] = JSON.string(String(repeating: "x", count: size))
        return options
    }

    @Test func stopsBesideAClientThatDoesNotReadItsResponse() async throws {
        let emulator = try await Emulator.start(options(size: 20_000_000))
        emulator.control.inject(
            Fault {
                $0.endpoint = .openIDConfiguration
                $0.delayMilliseconds = 86_400_000
            })
        let client = try RawConnection(to: emulator.url)
        try await client.get(Self.page)
        await emulator.control.waitForCount(.openIDConfiguration, atLeast: 1)
        await emulator.stop()
        withExtendedLifetime(client) {}
    }

    @Test func answersNoMoreRequestsThanTheClientReads() async throws {
        let (size, total) = (500_000, 100)
        try await withEmulator(options(size: size)) { emulator in
            let client = try RawConnection(to: emulator.url)
            try await client.get(Self.page, times: total)
            // The emulator has time for other clients, and uses none of it for this one.
            var (answered, rounds) = (0, 0)
            while answered == 0 || rounds < 100 {
                _ = try await HTTP.get("\(emulator.url)/control/nothing")
                let count = emulator.control.counts[.openIDConfiguration]
                (answered, rounds) = (count, count == answered ? rounds + 1 : 0)
            }
            #expect(answered < total / 2)
            var received = 0
            while received < size * total {
                let bytes = try await client.receive().utf8.count
                try #require(bytes > 0)
                received += bytes
            }
            #expect(emulator.control.counts[.openIDConfiguration] == total)
        }
    }
}
