import Foundation

if !Set(CommandLine.arguments.dropFirst()).isDisjoint(with: ["--help", "-h"]) {
    print(Options.usage, terminator: "")
    exit(0)
}
guard let options = Options(CommandLine.arguments.dropFirst()) else {
    FileHandle.standardError.write(Data(Options.usage.utf8))
    exit(64)
}

do {
    try await MovingApp(options: options).run()
} catch {
    FileHandle.standardError.write(Data("migration: \(error.localizedDescription)\n".utf8))
    exit(1)
}
