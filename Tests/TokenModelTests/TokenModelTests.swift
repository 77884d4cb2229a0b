// TokenModelTests
