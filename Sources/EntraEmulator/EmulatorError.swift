/// Why an emulator did not start.
package enum EmulatorError: Error, Sendable, Equatable {
    case stoppedBeforeListening
}
