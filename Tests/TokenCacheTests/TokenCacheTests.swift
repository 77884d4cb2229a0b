// TokenCacheTests
