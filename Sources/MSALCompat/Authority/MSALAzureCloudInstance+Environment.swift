extension MSALAzureCloudInstance {
    /// The cloud's host.
    var environment: String {
        switch self {
        case .publicCloudInstance: "login.microsoftonline.com"
        case .chinaCloudInstance: "login.chinacloudapi.cn"
        case .germanyCloudInstance: "login.microsoftonline.de"
        case .usGovernmentCloudInstance: "login.microsoftonline.us"
        case .franceCloudInstance: "login.sovcloud-identity.fr"
        case .delosCloudInstance: "login.sovcloud-identity.de"
        case .govSGCloudInstance: "login.sovcloud-identity.sg"
        }
    }
}
