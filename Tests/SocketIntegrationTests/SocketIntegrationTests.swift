// SocketIntegrationTests
