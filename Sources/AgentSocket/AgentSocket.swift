// AgentSocket
