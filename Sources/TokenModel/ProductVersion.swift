/// The version of this package, as `--version`, `status` and the token endpoint are told it.
package enum ProductVersion {
    package static let text = "0.1.0"
}
