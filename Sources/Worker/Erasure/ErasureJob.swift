import Logging
import Messages
import Operations
import Storage
import SyncModel

/// Deletes what was stored of erased realms and apps: a job (`SliceJob`).
struct ErasureJob: SlicePart {
    let work: SliceWork

    /// Takes one step.
    ///
    /// - Returns: whether there was anything to do.
    func step() async throws -> Bool {
        let goesOn = try await goOn()
        work.memory.erasure.isBehind = goesOn
        return goesOn
    }

    private func goOn() async throws -> Bool {
        if let record = try await store.unsweptErasures(limit: 1).first {
            try await step(record)
            return true
        }
        guard let app = try await store.appErasures().first else { return false }
        try await step(app)
        return true
    }

    // MARK: A realm

    private func step(_ record: ErasureRecord) async throws {
        var record = record
        if record.campaign != nil, record.reported < record.found || record.lastReported == 0 {
            return try await report(record)
        }
        let limits = limits.erasure
        guard
            try await store.sweep(
                record.realm, maxRows: limits.rowsPerStep, maxBytes: limits.bytesPerStep, epoch: work.environment.epoch)
        else { return }
        record.isSwept = true
        work.stage { [record] in
            // Without a campaign there is nobody who could come back.
            if record.campaign == nil { $0.erasureRemovals.append(record.realm) } else { $0.erasures.append(record) }
        }
        try await work.flush()
        logger.info(
            "erased realm is gone from the store",
            metadata: .about(record.name))
    }

    /// Reports the next client realms to the campaign. Their rows go in the same commit, with what earlier resets of theirs were
    /// waiting for: those are superseded.
    private func report(_ record: ErasureRecord) async throws {
        guard let campaign = record.campaign else { return }
        var record = record
        let size = foundPerReport
        var listed: [ClientFileRecord] = []
        var isAtEnd = false
        while listed.count < size, !isAtEnd {
            let page = try await store.clientFiles(
                in: record.realm, state: nil, after: record.lastReported, limit: size)
            for file in page where listed.count < size {
                record.lastReported = file.ident
                if file.state == .live || file.state == .resetRequired { listed.append(file) }
            }
            isAtEnd = page.last.map { $0.ident == record.lastReported && page.count < size } ?? true
        }
        for file in listed { try await supersede(file, of: record.name, by: campaign) }
        let chunks = reports(of: record.found)
        let chunk = record.reported / size
        if chunk < chunks {
            let reason = try await store.reason(campaign: campaign)
            try work.reportOnce(
                Erasures(work: work).found(
                    campaign, of: record.name, record.generation, reason: reason, chunk: chunk, chunks: chunks, listed))
        }
        record.reported =
            listed.count < size ? max(record.found, record.reported + listed.count) : record.reported + size
        // Also where there was nobody: it is reported.
        record.lastReported = max(record.lastReported, 1)
        work.stage { [record, listed] in
            $0.erasures.append(record)
            $0.clientFileRemovals += listed.map(\.key)
        }
        try await work.flush()
    }

    /// An earlier campaign learns that it hears no more of the client file's reset.
    private func supersede(_ file: ClientFileRecord, of name: RealmName, by campaign: String) async throws {
        try await inference.overtake(file, of: name, by: campaign)
        if file.state == .resetRequired, let earlier = file.campaign, earlier != campaign {
            try work.reportOnce(inference.superseded(file, of: name, campaign: earlier, by: campaign))
        }
    }

    // MARK: An app

    private func step(_ app: AppErasureRecord) async throws {
        var app = app
        let realms = try await store.realms(ofApp: app.app, limit: limits.erasure.realmsPerStep)
        guard realms.isEmpty else {
            for realm in realms { try await Erasures(work: work).erase(realm, campaign: nil) }
            app.realms += realms.count
            work.stage { [app] in $0.appErasures.append(app) }
            try await report(app, left: try await store.countRealms(ofApp: app.app) - realms.count, isDone: false)
            return try await work.flush()
        }
        // Realms of which clients might have come back: nobody does any more.
        let erased = try await store.erasures(ofApp: app.app, limit: 500)
        guard erased.isEmpty else {
            work.stage { batch in batch.erasureRemovals += erased.map(\.realm) }
            return try await work.flush()
        }
        work.stage { $0.appRemovals.append(app.app) }
        work.memory.generations[app.app] = nil
        work.memory.brakes.brakes[app.app] = nil
        work.environment.held.note(ResetHoldRecord(app: app.app, heldSince: nil, asked: 0, clientFiles: 0))
        try await report(app, left: 0, isDone: true)
        try await work.flush()
        logger.notice(
            "nothing is left of an app that was deleted",
            metadata: ["app": "\(app.app)", "realms": "\(app.realms)"])
    }

    private func report(_ app: AppErasureRecord, left: Int, isDone: Bool) async throws {
        try work.reportOnce(
            ErasedReport(app: app.app, slice: slice, erased: app.realms, left: left, isDone: isDone))
    }
}

/// How much of an erasure goes at once.
package struct ErasureLimits: Sendable {
    /// Realms of a deleted app that lose their headings in one commit.
    package var realmsPerStep = 50
    /// What one commit deletes.
    package var rowsPerStep = 2_000
    package var bytesPerStep = 8 << 20
}
