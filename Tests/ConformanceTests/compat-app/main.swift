internal import CompatReport
internal import Foundation

// An app that runs the steps of a test with one library, and prints one line for each.
guard let options = Options(CommandLine.arguments.dropFirst()) else {
    FileHandle.standardError.write(Data(Options.usage.utf8))
    exit(64)
}

for step in options.steps {
    do {
        switch options.library {
        case .msal: try await MSALSteps(options).take(step).write()
        case .adal: try await ADALSteps(options).take(step).write()
        }
    } catch let error as NSError {
        try Report(error).write()
    }
}
