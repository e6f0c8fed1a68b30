import Foundation
import Logging
import Storage

/// Reports that tell of a transition are made once: when their message comes again, the transition has taken place. So the commit
/// that holds the transition holds them, too, until they have arrived.
extension SliceOwner {
    /// Publishes after the commit, by this owner or a later one, what nothing would make again.
    func publishOnce(_ publication: Publication) throws {
        guard let stored = StoredPublication(publication) else { return publish(publication) }
        var publication = publication
        let id = UUID().uuidString
        publication.outboxID = id
        pending.outbox.append(OutboxRecord(id: id, body: try stored.encoded()))
        publish(publication)
    }

    /// These have arrived: the next commit forgets them.
    package func arrived(_ publications: [Publication]) {
        for publication in publications {
            if let id = publication.outboxID { outbox.arrived.insert(id) }
        }
    }

    /// Forgets in the store what has arrived, before the slice is let go.
    package func forgetArrived() async throws {
        guard !outbox.arrived.isEmpty else { return }
        var batch = SliceBatch()
        batch.outboxRemovals = Array(outbox.arrived)
        try await store.commit(batch, epoch: epoch)
        outbox.arrived = []
    }

    /// What the outbox holds that nobody is known to have received, up to a batch's size at once.
    func leftovers() async throws -> [Publication] {
        guard outbox.mayHoldLeftovers else { return [] }
        let rows = try await store.outbox(after: outbox.lastRead, maxBytes: limits.maxBatchBytes)
        outbox.lastRead = rows.last?.number ?? outbox.lastRead
        outbox.mayHoldLeftovers = rows.reduce(0) { $0 + $1.record.body.count + 64 } >= limits.maxBatchBytes
        var publications: [Publication] = []
        for (_, record) in rows where !outbox.arrived.contains(record.id) {
            do {
                var publication = try StoredPublication(decoding: record.body).publication
                publication.outboxID = record.id
                publications.append(publication)
            } catch {
                logger.error(
                    "a message in the outbox cannot be read; it stays there",
                    metadata: ["id": "\(record.id)", "error": "\(error)"])
            }
        }
        if !publications.isEmpty {
            logger.notice("publishing what was left to publish", metadata: ["count": "\(publications.count)"])
        }
        return publications
    }
}
