// ADAL
