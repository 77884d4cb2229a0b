// CompatTests
