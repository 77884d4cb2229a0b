internal import Foundation
internal import NIOHTTP1

/// The endpoints with which an app validates an AD FS farm: the farm that a domain names, and the realms that the farm trusts.
struct FederationRoute: Sendable {
    let state: EmulatorState

    /// `GET /enrollmentserver/contract` at the domain's own host, or `/DOMAIN/enrollmentserver/contract` at the cloud's.
    func enrollment(_ request: EmulatorRequest) throws -> Response {
        let adfs = state.update { $0.settings.adfs }
        let (onPremises, cloud) = ("enterpriseregistration.", "enterpriseregistration.windows.net")
        let segments = request.path.split(separator: "/")
        let domain: String? =
            switch adfs.registration {
            case .onPremises where request.environment.hasPrefix(onPremises) && segments.count == 2:
                String(request.environment.dropFirst(onPremises.count))
            case .cloud where request.environment == cloud && segments.count == 3: segments[0].lowercased()
            default: nil
            }
        guard let host = domain.flatMap({ adfs.hosts[$0] }) else {
            return .text("Not Found\n", type: "text/plain", status: .notFound)
        }
        return try .json(
            [
                "DeviceRegistrationService": ["RegistrationEndpoint": "\(request.baseURL)/EnrollmentServer/"],
                "IdentityProviderService": ["PassiveAuthEndpoint": "https://\(host)/adfs/ls"],
            ] as JSON)
    }

    /// `GET /.well-known/webfinger?resource=…` at a farm (RFC 7033).
    func webFinger(_ request: EmulatorRequest) throws -> Response {
        let adfs = state.update { $0.settings.adfs }
        let resource = try request.parameters.required("resource")
        let asked = URL(string: resource)?.host()?.lowercased() ?? ""
        let farms = Set(adfs.hosts.values)
        // A farm trusts itself and the other configured farms, but no other host.
        let trusted = farms.contains(request.environment) ? farms.intersection([request.environment, asked]) : []
        let links = trusted.sorted().map { host -> JSON in
            ["rel": "http://schemas.microsoft.com/rel/trusted-realm", "href": "https://\(host)"]
        }
        return try .json(["subject": .string(resource), "links": .array(links)] as JSON)
    }
}
