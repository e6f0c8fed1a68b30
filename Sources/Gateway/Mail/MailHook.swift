import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
package import Operations
import SyncModel

/// What hands mails over to be sent: the operator's, since Sluice speaks no SMTP and knows no templates.
package protocol MailHook: Sendable {
    /// Hands one mail over, as JSON.
    /// - Throws: whatever kept it from being taken; it is tried again.
    func deliver(_ mail: Data) async throws
}

/// Posts mails to a URL.
package struct HTTPMailHook: MailHook {
    private let url: String
    private let secret: Secret
    private let patience: Duration

    /// - Parameters:
    ///   - secret: sent as a bearer token, so that the receiver knows who asks; may be empty.
    ///   - patience: how long the head of the answer may take to come, and its body after that.
    package init(url: String, secret: Secret, patience: Duration = .seconds(10)) {
        self.url = url
        self.secret = secret
        self.patience = patience
    }

    package func deliver(_ mail: Data) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        if !secret.isEmpty { request.headers.add(name: "Authorization", value: "Bearer \(secret.revealed)") }
        request.body = .bytes(ByteBuffer(bytes: mail))
        let sent = request
        let answer = try await withDeadline(patience) {
            try await HTTPClient.shared.execute(sent, deadline: .distantFuture)
        }
        // The body says nothing, but a connection whose answer is left unread is not used again.
        _ = try? await withDeadline(patience) { try await answer.body.collect(upTo: 1 << 16) }
        guard (200..<300).contains(answer.status.code) else {
            throw GatewayError(.mail, "the mail hook answered \(answer.status.code)")
        }
    }
}
