// TokenWireTests
