import SyncModel
import SyncProtocol

/// A user of the honest app who opens it for a moment, again and again: logs in with the password or refreshes the token,
/// connects, downloads what is new and leaves.
struct Visitor: Sendable {
    static let password = "correct horse"

    let email: String
    let app: String
    let partition: String
    let exchange: HTTPExchange
    let ledger: HonestLedger

    /// Visits the app until the task is cancelled.
    func visit(every pace: Duration) async {
        var account: Account?
        var known: Line.Session?
        var count = 0
        while !Task.isCancelled {
            let begun = ContinuousClock.now
            do {
                // A password is hashed with each fourth visit, as costly as that is.
                if let last = account, count % 4 != 0 {
                    account = try await last.refresh(exchange)
                } else {
                    account = try await Account.login(email, Self.password, of: app, exchange)
                }
                if let account { known = try await look(account, known) }
                ledger.visited(since: begun)
            } catch {
                if !Task.isCancelled { ledger.failed("a visit: \(error)") }
                known = nil
            }
            count += 1
            try? await Task.sleep(until: begun + pace)
        }
    }

    private func look(_ account: Account, _ known: Line.Session?) async throws -> Line.Session? {
        let line = try await Line.open(account, port: exchange.port, exchange.tally)
        let session = try await line.open(partition, as: known)
        try await line.send(.mark(session: session, request: 1))
        guard await line.wait({ ($0.sessions[session]?.mark ?? 0) >= 1 || $0.isOver(session) }),
            await !line.isOver(session)
        else { throw Refused("the MARK was not answered") }
        try await line.send(.unbind(session: session))
        guard await line.wait({ $0.sessions[session]?.isUnbound == true }) else { throw Refused("no UNBOUND") }
        let last = await line.sessions[session]
        await line.close()
        return last
    }
}
