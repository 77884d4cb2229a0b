/// One of Microsoft's clouds.
@nonexhaustive(warn) public enum MSALAzureCloudInstance: Int, Sendable {
    /// The public cloud, `login.microsoftonline.com`.
    case publicCloudInstance = 0
    /// China, `login.chinacloudapi.cn`.
    case chinaCloudInstance = 1
    /// The former German cloud, `login.microsoftonline.de`.
    case germanyCloudInstance = 2
    /// US Government, `login.microsoftonline.us`.
    case usGovernmentCloudInstance = 3
    /// Bleu in France, `login.sovcloud-identity.fr`.
    case franceCloudInstance = 4
    /// Delos in Germany, `login.sovcloud-identity.de`.
    case delosCloudInstance = 5
    /// Singapore's government, `login.sovcloud-identity.sg`.
    case govSGCloudInstance = 6
}
