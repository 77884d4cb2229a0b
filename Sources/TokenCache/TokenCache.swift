// TokenCache
