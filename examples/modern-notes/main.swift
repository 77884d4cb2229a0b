import Foundation
import MSAL

// An app as it is written for MSAL: no line of it depends on the agent.

if !Set(CommandLine.arguments.dropFirst()).isDisjoint(with: ["--help", "-h"]) {
    print(Options.usage, terminator: "")
    exit(0)
}
guard let options = Options(CommandLine.arguments.dropFirst()) else {
    FileHandle.standardError.write(Data(Options.usage.utf8))
    exit(64)
}

func fail(_ reason: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("modern-notes: \(reason)\n".utf8))
    exit(status)
}

do {
    exit(try await NotesApp(options: options).run())
} catch let error as NoAccount {
    fail("\(error.count) accounts are signed in; name one with --username, or use --sign-in", status: 2)
} catch let error as NSError where error.needsInteraction {
    fail("sign in first: the same command with --sign-in", status: 2)
} catch let error as NSError {
    fail(error.localizedDescription, status: 1)
}
