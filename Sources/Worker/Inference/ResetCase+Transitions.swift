import Messages
import SyncModel

extension ResetCase {
    /// How sure an inference is: what only this reset can look like, what something else could look like as well, and what
    /// could be another device of the user.
    private static let high = 0.9
    private static let medium = 0.5
    private static let low = 0.3
    private static let maxFreshCopies = 8

    /// Takes an event in.
    ///
    /// - Returns: a conclusion that is new or better than the one before.
    mutating func take(_ event: ResetEvent, at now: UInt64, quiet: UInt64) -> Conclusion? {
        switch event {
        case .refused(let connection): return refused(connection)
        case .boundFresh(let ident, let session, let isSameConnection):
            phase = .copying(ident: ident, session: session, isMarked: false)
            self.isSameConnection = isSameConnection
            if isSameConnection {
                freshCopies = ((freshCopies ?? []).filter { $0 != ident } + [ident]).suffix(Self.maxFreshCopies)
            }
            return nil
        case .bound(let session):
            if case .copied(let ident) = phase { phase = .resuming(ident: ident, session: session, boundAt: now) }
            return nil
        case .identified(let ident, let session, let clientVersion):
            return identified(ident, session, clientVersion: clientVersion, now)
        case .uploaded(let timestamps): return uploaded(timestamps, now)
        case .marked: return marked(now, quiet: quiet)
        case .overtaken(let campaign): return overtaken(by: campaign)
        case .unbound(let session): return unbound(session)
        case .left(let session, let isOwnChoice): return left(session, isOwnChoice: isOwnChoice)
        case .tick: return settle(now)
        }
    }

    /// Nothing has been said of how the reset ends, or it has been taken back.
    private var isUntold: Bool { conclusion.map { $0.result == .interrupted && $0.supersededBy == nil } ?? true }

    /// The client realm is another campaign's from now on, which has been told nothing yet.
    mutating func move(to campaign: String) {
        guard self.campaign != campaign else { return }
        self.campaign = campaign
        conclusion = nil
    }

    /// The old ident again: whatever was begun was not carried through.
    private mutating func refused(_ connection: String) -> Conclusion? {
        self.connection = connection
        guard phase != .notified else { return nil }
        attempt += 1
        phase = .notified
        recovered = 0
        dueAt = nil
        guard let earlier = conclusion else { return nil }
        conclusion = nil
        // Only what has been reported must be taken back.
        return earlier.result == .interrupted ? nil : conclude(.interrupted, Self.high)
    }

    private mutating func identified(
        _ ident: FileIdent, _ session: SessionReference, clientVersion: ClientVersion, _ now: UInt64
    ) -> Conclusion? {
        switch phase {
        case .notified where clientVersion == 0:
            // A fresh copy that was begun before the error came once more: the client has kept it.
            phase = .copying(ident: ident, session: session, isMarked: false)
        case .copying(let ident, let copying, _) where session != copying:
            // Resumed by another session: the fresh copy goes on under its ident.
            phase = .copying(ident: ident, session: session, isMarked: false)
        case .copied(let ident) where clientVersion == 0:
            phase = .merged(ident: ident, boundAt: now, isMarked: false)
        case .resuming(let ident, _, let boundAt) where clientVersion == 0:
            phase = .merged(ident: ident, boundAt: boundAt, isMarked: false)
        default: break
        }
        return nil
    }

    private mutating func uploaded(_ timestamps: [SyncTimestamp], _ now: UInt64) -> Conclusion? {
        switch phase {
        case .copying(let ident, _, _):
            // A fresh copy never uploads: this is the new file of a manual reset.
            guard !timestamps.isEmpty else { return nil }
            phase = .replaced(ident: ident)
            return conclude(.manualHandled, isSameConnection ? Self.medium : Self.low)
        case .merged(_, let boundAt, _):
            let limit = SyncTimestamp(unixMilliseconds: Int64(clamping: boundAt))
            let older = timestamps.count { $0 < limit }
            guard older > 0 else { return nil }
            recovered += older
            dueAt = nil
            return conclude(.recovered, isSameConnection ? Self.high : Self.medium)
        default: return nil
        }
    }

    private mutating func marked(_ now: UInt64, quiet: UInt64) -> Conclusion? {
        switch phase {
        case .copying(let ident, let session, _): phase = .copying(ident: ident, session: session, isMarked: true)
        case .merged(let ident, let boundAt, _):
            phase = .merged(ident: ident, boundAt: boundAt, isMarked: true)
            if recovered == 0, isUntold { dueAt = now &+ quiet }
        default: break
        }
        return nil
    }

    /// The fresh copy's ident is refused from now on. What was merged into it is reset once more under that ident, so how this
    /// reset ended can no longer be seen; a copy that is not complete cannot become so.
    private mutating func overtaken(by campaign: String) -> Conclusion? {
        switch phase {
        case .copying(_, _, isMarked: false):
            phase = .notified
            return nil
        case .merged where isUntold:
            dueAt = nil
            return conclude(.interrupted, 1, supersededBy: campaign)
        default: return nil
        }
    }

    private mutating func unbound(_ session: SessionReference) -> Conclusion? {
        switch phase {
        case .copying(let ident, session, let isMarked):
            if isMarked {
                phase = .copied(ident: ident)
            } else if !isSameConnection {
                // Some other device that came and went.
                phase = .notified
            }
            return nil
        case .merged(_, _, isMarked: true) where recovered == 0 && isUntold:
            return concludeFromSilence()
        default: return nil
        }
    }

    /// The merge is made between BIND and IDENT: a client that leaves there of its own accord could not make it. One that
    /// was cut off or sent away comes back.
    private mutating func left(_ session: SessionReference, isOwnChoice: Bool) -> Conclusion? {
        switch phase {
        case .resuming(let ident, session, _) where !isOwnChoice:
            phase = .copied(ident: ident)
            return nil
        case .copying(_, session, isMarked: false):
            // The client never heard of the ident, so it asks for another.
            phase = .notified
            return nil
        // Also when the bind was never heard of: its request may have come too late to be answered.
        case .resuming(_, session, _),
            .copied where isOwnChoice:
            phase = .failed
            return conclude(.failed, Self.high)
        default: return nil
        }
    }

    private mutating func settle(_ now: UInt64) -> Conclusion? {
        guard let due = dueAt, due <= now else { return nil }
        dueAt = nil
        guard case .merged(_, _, isMarked: true) = phase, recovered == 0, isUntold else { return nil }
        return concludeFromSilence()
    }

    /// The reset was made, and the client has sent nothing that it wrote before. Whether it had nothing unsynced or has
    /// discarded it looks the same. That there was nothing is the likelier, unless the app did not allow recovery: then
    /// whatever there was is gone.
    private mutating func concludeFromSilence() -> Conclusion? {
        dueAt = nil
        return conclude(mayRecover == false ? .discarded : .notNeeded, isSameConnection ? Self.medium : Self.low)
    }

    private mutating func conclude(
        _ result: OutcomeReport.Result, _ confidence: Double, supersededBy: String? = nil
    ) -> Conclusion? {
        let new = Conclusion(
            result: result, confidence: confidence, recovered: recovered, supersededBy: supersededBy)
        guard new != conclusion else { return nil }
        conclusion = new
        return new
    }
}
