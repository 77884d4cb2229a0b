// TokenEndpointTests
