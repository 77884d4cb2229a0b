internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// The program that shows the sign-in page.
@Suite(.bounded) struct BrowserTests {
    @Test(arguments: [(true, "status 5"), (false, "status 4")])
    func getsNoneOfTheAppsOpenFiles(isOpen: Bool, expected: String) async throws {
        let folder = try TemporaryFolder()
        let script = folder.file("browser")
        // Ends with 5 when it has not got the file of that number, else with 4.
        try "test -e /proc/$$/fd/$1 && exit 4; exit 5".write(toFile: script, atomically: true, encoding: .utf8)
        // An app's file as files are opened, not closed when another program starts; a number that no shell uses itself.
        let opened = try FileHandle(forReadingFrom: URL(filePath: script))
        let number = fcntl(opened.fileDescriptor, F_DUPFD, 500)
        defer { close(number) }
        let browser = Browser(commands: ["/bin/sh \(script)"])
        let end = await withCheckedContinuation { (done: CheckedContinuation<String, Never>) in
            do {
                // Its standard output it has got: that is how the test knows that it would notice.
                try browser.open(isOpen ? "\(number)" : "1") { done.resume(returning: $0) }
            } catch {
                done.resume(returning: "\(error)")
            }
        }
        #expect(end.contains(expected), "\(end)")
    }
}
