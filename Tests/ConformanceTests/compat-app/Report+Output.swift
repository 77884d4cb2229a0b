internal import CompatReport
internal import Foundation

extension Report {
    init(_ error: NSError) {
        self.init()
        domain = error.domain
        code = error.code
    }

    func write() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        FileHandle.standardOutput.write(try encoder.encode(self) + Data("\n".utf8))
    }
}
