// TokenStoreTests
