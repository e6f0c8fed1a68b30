import Storage
import TestSupport
import Testing

@testable import AdminAPI

@Suite struct AdminRoleTests {
    @Test func everyRouteIsFoundByItsEndpoint() {
        for route in AdminRoute.allCases {
            let segments = route.rawValue.split(separator: "/").map {
                $0.first == ":" ? "{\($0.dropFirst())}" : "\($0)"
            }
            expectEqual(AdminRoute(endpoint: "\(AdminRoute.base)/\(segments.joined(separator: "/"))"), route)
        }
        expectTrue(AdminRoute(endpoint: "/health") == nil)
        expectTrue(AdminRoute(endpoint: "\(AdminRoute.base)/nowhere") == nil)
    }

    /// Whatever is added: only reading is for readers, and who may let others in stays with owners.
    @Test func rolesGrow() {
        expectTrue(AdminRole.read < .operate && AdminRole.operate < .own)
        // To log in and out with a token changes nothing, and gives nobody more than the token does.
        let sessions: Set<AdminRoute> = [.session, .sessionLink]
        for route in AdminRoute.allCases where !sessions.contains(route) {
            for method in ["POST", "PUT", "PATCH", "DELETE"] { expectTrue(route.role(for: method) >= .operate) }
        }
        for route in [AdminRoute.tokens, .token] {
            for method in ["GET", "POST", "DELETE"] { expectEqual(route.role(for: method), .own) }
        }
        expectTrue(AdminRoute.apps.role(for: "GET") == .read && AdminRoute.app.role(for: "PATCH") == .operate)
        expectTrue(AdminRoute.app.role(for: "DELETE") == .own && AdminRoute.rotateKeys.role(for: "POST") == .own)
    }
}
