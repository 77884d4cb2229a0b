// TokenEndpoint
