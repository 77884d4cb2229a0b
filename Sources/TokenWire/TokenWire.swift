// TokenWire
