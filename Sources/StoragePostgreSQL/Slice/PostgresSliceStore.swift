import PostgreSQL
import Storage
import SyncModel

/// A slice in a PostgreSQL database.
///
/// A commit is one transaction that checks the epoch in the slice's row, and one round trip. Where its answer is lost, the row says
/// whether it has gone through; until that is known nothing is read or written, so that nobody builds on what may change behind
/// their back.
///
/// Leases are by the database's clock (`LeaseClock.database`): of the times that a claim says only their distance counts, which is
/// how long the lease lasts from then, and each renewal lasts as long. Two workers whose clocks differ agree all the same.
final class PostgresSliceStore: PostgresSliceContent, SliceStore {
    let slice: SliceNumber
    let client: PostgresClient
    let leases: LeaseClock
    let ledger = CommitLedger()
    let turnstile = Turnstile()

    init(slice: SliceNumber, client: PostgresClient, leases: LeaseClock) {
        self.slice = slice
        self.client = client
        self.leases = leases
    }

    /// Finds the slice, or makes it.
    /// - Throws: `notFound` if it is not there and may not be made.
    func open(mayMake: Bool) async throws(StoreError) {
        if try await queryNumber("SELECT slice FROM ownership WHERE slice = $1") != nil { return }
        guard mayMake else {
            throw StoreError(.notFound, "the database at \(client.configuration.place) has no slice \(slice)")
        }
        _ = try await write("INSERT INTO ownership (slice) VALUES ($1) ON CONFLICT (slice) DO NOTHING")
    }

    func ask(_ pipeline: PostgresPipeline) async throws(StoreError) -> PostgresAnswer {
        try await settleDoubt()
        do throws(PostgresError) {
            return try await client.run(pipeline)
        } catch {
            throw failure(error)
        }
    }

    /// Runs one statement as a transaction; its first parameter is the slice. It may be repeated, and must be one that may be.
    func write(_ sql: String, _ values: PostgresValue...) async throws(StoreError) -> PostgresRows {
        return try await write(PostgresPipeline(sql, [.int(number)] + values))[0]
    }

    func write(_ pipeline: PostgresPipeline) async throws(StoreError) -> PostgresAnswer {
        var attempt = 1
        while true {
            do throws(PostgresError) {
                return try await client.run(pipeline, .write())
            } catch {
                guard error.kind == .lost, attempt < Self.maxAttempts else { throw failure(error) }
                attempt += 1
            }
        }
    }

    func failure(_ error: PostgresError) -> StoreError { StoreError(error, "slice \(slice) cannot be used") }

    /// Nobody waits for the server here; the connection is one of its own.
    nonisolated(nonsending) func withSnapshot<Value>(
        _ body: (any SliceContent) async throws -> Value
    ) async throws -> Value {
        try await settleDoubt()
        return try await PostgresSliceReader(slice: slice, client: client).withSnapshot { try await body($0) }
    }
}

// MARK: - Commits

extension PostgresSliceStore {
    /// How often what was lost with its connection is sent again.
    private static var maxAttempts: Int { 5 }

    func commit(_ batch: SliceBatch, epoch: Epoch) async throws(StoreError) {
        await turnstile.enter()
        defer { turnstile.leave() }
        try await settle()
        var attempt = 1
        var isFresh = false
        while true {
            let previous: Int64
            if let known = ledger.token(epoch) {
                previous = known
            } else {
                previous = try await lastToken(epoch)
                isFresh = true
            }
            let token = CommitLedger.makeToken()
            let commit = PostgresCommit(batch, slice: slice, epoch: epoch, previous: previous, token: token)
            do throws(PostgresError) {
                _ = try await client.run(commit.pipeline, .write())
                return ledger.note(token, epoch)
            } catch {
                if error.mayHaveHappened {
                    _ = ledger.doubt(token, after: previous, epoch)
                    if try await settle() { return }
                    guard attempt < Self.maxAttempts else { throw failure(error) }
                    attempt += 1
                } else if error.statement == PostgresCommit.fence, error.sqlState == "22P02" {
                    ledger.forget()
                    // Tells who has the slice now. If it is this owner still, another object of this process has committed.
                    _ = try await lastToken(epoch)
                    guard !isFresh else { throw failure(error) }
                } else {
                    throw failure(error)
                }
            }
        }
    }

    /// - Throws: `fenced`.
    private func lastToken(_ epoch: Epoch) async throws(StoreError) -> Int64 {
        let row: PostgresRow?
        do throws(PostgresError) {
            row = try await client.query(
                "SELECT last_commit, epoch, released FROM ownership WHERE slice = $1", .int(number)
            ).first
        } catch {
            throw failure(error)
        }
        guard let row, Epoch(row.number(1)) == epoch, !row.bool(2) else {
            throw fenced(epoch, found: row.map { Epoch($0.number(1)) })
        }
        return row.int(0)
    }

    func fenced(_ epoch: Epoch, found: Epoch?) -> StoreError {
        StoreError(
            .fenced, "slice \(slice) is no longer owned under epoch \(epoch); the store has epoch \(found?.value ?? 0)")
    }

    /// Finds out about a commit whose answer was lost, before anything is read.
    func settleDoubt() async throws(StoreError) {
        guard ledger.doubt != nil else { return }
        await turnstile.enter()
        defer { turnstile.leave() }
        try await settle()
    }

    /// Finds out whether the commit in doubt has gone through, and sees to it that it does not from now on.
    ///
    /// - Returns: whether it has.
    @discardableResult private func settle() async throws(StoreError) -> Bool {
        guard let doubt = ledger.doubt else { return false }
        // Waits for the transaction if it is still under way, and leaves another token than the one that it expects. Sent again
        // and again this says the same.
        let row = try await write(
            """
            UPDATE ownership SET last_commit =
                CASE last_commit WHEN $3 THEN $5 WHEN $4 THEN $6 ELSE last_commit END
            WHERE slice = $1 AND epoch = $2 RETURNING last_commit
            """, .int(doubt.epoch.value.stored), .int(doubt.token), .int(doubt.previous), .int(doubt.wentThrough),
            .int(doubt.didNot)
        ).first
        guard let row else {
            // The worker that has taken the slice has seen to the rest.
            ledger.forget()
            throw fenced(doubt.epoch, found: nil)
        }
        let found = row.int(0)
        ledger.note(found, doubt.epoch)
        return found == doubt.wentThrough
    }
}
