/// Whose accounts may sign in to an Entra app.
@nonexhaustive(warn) public enum MSALAudienceType: Int, Sendable {
    /// Work, school and personal accounts: `common`.
    case azureADAndPersonalMicrosoftAccountAudience = 0
    /// Work and school accounts of any organisation: `organizations`.
    case azureADMultipleOrgsAudience = 1
    /// Accounts of one tenant, which has to be named.
    case azureADMyOrgOnlyAudience = 2
    /// Personal accounts only: `consumers`.
    case personalMicrosoftAccountAudience = 3
}
