// EntraEmulatorTests
