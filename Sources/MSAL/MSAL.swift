// So that an app's `import MSAL` line stays as it is.
@_exported public import MSALCompat
