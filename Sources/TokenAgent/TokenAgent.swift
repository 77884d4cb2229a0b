// TokenAgent
