import ADAL
import Dispatch

// An app as it was written for ADAL 2.7. Nothing in it knows that an agent answers.
guard let options = Options(CommandLine.arguments.dropFirst()) else {
    FileHandle.standardError.write(Data(Options.usage.utf8))
    exit(64)
}

MailApp(options: options).getToken { exit($0) }
dispatchMain()
