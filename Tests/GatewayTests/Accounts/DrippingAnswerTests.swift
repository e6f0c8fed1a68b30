import AsyncHTTPClient
import Foundation
import Operations
import SyncModel
import TestSupport
import Testing

@testable import Gateway

/// Other services whose answers begin at once and never end are waited for no longer than those that do not begin.
@Suite struct DrippingAnswerTests {
    @Test(.hangGuard) func keysThatDripAreGivenUp() async throws {
        let server = try await DrippingServer()
        let fetch = ForeignKeys.overHTTP(HTTPClient.shared, within: .milliseconds(200))
        await #expect(throws: DeadlinePassed.self) { _ = try await fetch(server.url) }
        try await server.stop()
    }

    /// The status says that the mail was taken; what follows is waited for no longer than the status.
    @Test(.hangGuard) func aMailHookThatDripsHasTakenTheMail() async throws {
        let server = try await DrippingServer()
        let hook = HTTPMailHook(url: server.url, secret: Secret(""), patience: .milliseconds(200))
        try await hook.deliver(Data("{}".utf8))
        try await server.stop()
    }
}
