// EntraEmulator
