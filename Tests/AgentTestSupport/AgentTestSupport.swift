// AgentTestSupport
