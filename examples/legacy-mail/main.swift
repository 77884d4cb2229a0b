import ADAL
import Dispatch

// An app as it was written for ADAL 2.7: no line of it depends on the agent.

if !Set(CommandLine.arguments.dropFirst()).isDisjoint(with: ["--help", "-h"]) {
    print(Options.usage, terminator: "")
    exit(0)
}
guard let options = Options(CommandLine.arguments.dropFirst()) else {
    FileHandle.standardError.write(Data(Options.usage.utf8))
    exit(64)
}

MailApp(options: options).printToken { exit($0) }
dispatchMain()
