internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

@Suite(.bounded) struct ListeningSocketTests {
    /// The length of the longest path that the address of a socket has room for.
    private static let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// It is bound under another name first, whose length must not count.
    @Test func listensAtTheLongestPath() throws {
        let folder = try TemporaryFolder()
        let path = try Self.path(in: folder, length: Self.longest)
        let listener = try ListeningSocket.make(at: path)
        defer { close(listener) }
        #expect(ListeningSocket.isServed(at: path) == true)
        let parent = URL(filePath: path).deletingLastPathComponent().path
        let names = try FileManager.default.contentsOfDirectory(atPath: parent)
        #expect(names == ["agent.sock"])
    }

    @Test func namesThePathThatIsTooLong() throws {
        let folder = try TemporaryFolder()
        let path = try Self.path(in: folder, length: Self.longest + 1)
        let error = #expect(throws: TokenError.self) { try ListeningSocket.make(at: path) }
        #expect(error?.message.hasPrefix("the socket path \(path) is longer than \(Self.longest) bytes; ") == true)
    }

    /// The path of a socket, of so many bytes, in a folder that is made.
    private static func path(in folder: TemporaryFolder, length: Int) throws -> String {
        let name = "/agent.sock"
        let count = length - folder.path.utf8.count - name.utf8.count - 1
        try #require(count > 0)
        let parent = folder.file(String(repeating: "d", count: count))
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        return parent + name
    }
}
