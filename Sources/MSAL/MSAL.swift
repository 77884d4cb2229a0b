// MSAL
